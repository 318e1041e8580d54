import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHAT_SERVICES } from '../../src/providers/llm/chat-completions/services.js';
import { emptyForeign } from './foreign-variables.js';

const SRC = new URL('../../src/', import.meta.url).pathname;

/** What settings of a folder are read from, as its files declare them. */
function declared(folder: string): string[] {
  const texts = readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(SRC, folder, file), 'utf8'));
  return texts
    .flatMap((text) => text.match(/\b(keyVariables|baseUrlVariable|variables): (\[[^\]]*\]|'\w+')/g) ?? [])
    .flatMap((declaration) => declaration.match(/(?<=')\w+(?=')/g) ?? []);
}

describe('variables of whoever runs the tests', () => {
  it('are empty here where a provider or a carrier would read them', () => {
    const chat = Object.values(CHAT_SERVICES).flatMap(({ access }) => [
      ...access.keyVariables,
      access.baseUrlVariable,
    ]);
    const names = [
      ...declared('providers'),
      ...declared('carriers'),
      ...chat,
      'ANTHROPIC_AUTH_TOKEN',
      'OFFHOOK_LIVE',
    ];
    expect(names).toEqual(
      expect.arrayContaining([
        'ANTHROPIC_API_KEY',
        'GOOGLE_API_KEY',
        'TWILIO_AUTH_TOKEN',
        'CEREBRAS_BASE_URL',
      ]),
    );
    const set = Object.fromEntries(names.map((name) => [name, 'secret']));
    expect(emptyForeign(set)).toEqual(Object.fromEntries(names.map((name) => [name, ''])));
    expect(process.env).toMatchObject(emptyForeign(process.env));
  });

  it('are left alone otherwise', () => {
    expect(
      emptyForeign({ PATH: '/bin', CI: 'true', OFFHOOK_TEST_KILLS: '3', TRANSCODER_BACKEND: 'wasm' }),
    ).toEqual({});
  });
});
