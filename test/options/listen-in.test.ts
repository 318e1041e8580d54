import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import {
  type AttachOptions,
  checkAttachOptions,
  checkServeOptions,
  type ServeOptions,
} from '../../src/options/serve.js';
import { createPlainCarrier } from '../support/plain-carrier.js';

const agent = new Agent({});
const carrier = createPlainCarrier();
const dashboardToken = 'a-token-of-sixteen-characters';

const check = (options: object, client: { webhookUrl?: string } = {}) =>
  checkServeOptions({ agent, ...options } as ServeOptions, { carrier, ...client }).listenIn;

describe('listenIn', () => {
  it('is off unless it is asked for', () => {
    expect(check({})).toBe(false);
    expect(check({ listenIn: false })).toBe(false);
    expect(check({ listenIn: true, dashboardToken })).toBe(true);
  });

  it.each(['yes', 1, null, {}])('refuses %j', (listenIn) => {
    expect(() => check({ listenIn, dashboardToken })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });

  it.each<[string, object, { webhookUrl?: string }]>([
    ['listens everywhere', {}, {}],
    ['listens on an address of the network', { host: '192.0.2.7' }, {}],
    ['has a webhookUrl', { host: '127.0.0.1' }, { webhookUrl: 'voice.example.com' }],
    ['opens a tunnel', { host: '127.0.0.1', tunnel: true }, {}],
  ])('is refused without a token where the server %s', (_where, options, client) => {
    const refused = expect.objectContaining({ code: 'CONFIG_MISSING' });
    expect(() => check({ listenIn: true, ...options }, client)).toThrow(refused);
    expect(() => check({ listenIn: true, ...options }, client)).toThrow('listenIn needs a dashboardToken');
    expect(check({ listenIn: true, dashboardToken, ...options }, client)).toBe(true);
  });

  it('needs no token where nobody else reaches the server', () => {
    for (const host of ['127.0.0.1', '::1', 'localhost']) expect(check({ listenIn: true, host })).toBe(true);
  });

  it("always needs one on an application's own server, which may listen anywhere", () => {
    const attach = (options: object) =>
      checkAttachOptions({ agent, ...options } as AttachOptions, { carrier }).listenIn;
    expect(() => attach({ listenIn: true })).toThrow('listenIn needs a dashboardToken');
    expect(attach({ listenIn: true, dashboardToken })).toBe(true);
  });
});
