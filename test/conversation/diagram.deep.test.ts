import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { diagramOf } from './diagram.js';

// It tries some hundred thousand steps.
it('the diagram of the machine is the one in ARCHITECTURE.md', () => {
  const shown = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8');
  expect(shown).toContain(diagramOf());
});
