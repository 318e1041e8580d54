import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkDashboardFeed } from '../../src/options/dashboard-feed.js';
import { refusal } from './refusal.js';

afterEach(() => vi.unstubAllEnvs());

describe('where the calls go beside the own dashboard', () => {
  it('is the dashboard of the same user, unless it is turned off', () => {
    expect(checkDashboardFeed({})).toEqual({ kind: 'automatic' });
    expect(checkDashboardFeed({ dashboardUrl: false })).toEqual({ kind: 'off' });
  });

  it('is the one that is named, by option before environment', () => {
    vi.stubEnv('OFFHOOK_DASHBOARD_URL', 'https://calls.example.com/offhook');
    vi.stubEnv('OFFHOOK_DASHBOARD_TOKEN', 'from-the-environment');
    expect(checkDashboardFeed({})).toMatchObject({ kind: 'named', token: 'from-the-environment' });
    const named = { dashboardUrl: 'http://127.0.0.1:9000', dashboardIngestToken: 'our-own-ingest-token' };
    expect(checkDashboardFeed(named)).toMatchObject({
      url: new URL('http://127.0.0.1:9000'),
      token: 'our-own-ingest-token',
    });
    expect(checkDashboardFeed({ dashboardUrl: false })).toEqual({ kind: 'off' });
  });

  it.each([
    [{ dashboardUrl: 'calls.example.com' }, 'CONFIG_INVALID', /https:/],
    [{ dashboardUrl: 'ftp://calls.example.com' }, 'CONFIG_INVALID', /https:/],
    [{ dashboardUrl: 'http://calls.example.com' }, 'CONFIG_INVALID', /must begin with https/],
    [{ dashboardUrl: 'http://10.0.0.7:9000' }, 'CONFIG_INVALID', /must begin with https/],
    [{ dashboardUrl: 'https://user:pass@calls.example.com' }, 'CONFIG_INVALID', /without user/],
    [{ dashboardUrl: 'https://calls.example.com/?token=x' }, 'CONFIG_INVALID', /without user/],
    [{ dashboardUrl: '' }, 'CONFIG_INVALID', /dashboardUrl/],
    [{ dashboardUrl: 'https://calls.example.com' }, 'CONFIG_MISSING', /dashboardIngestToken/],
    [{ dashboardUrl: 'https://calls.example.com', dashboardIngestToken: 'a b' }, 'CONFIG_INVALID', /blanks/],
    [{ dashboardIngestToken: 'x'.repeat(16) }, 'CONFIG_MISSING', /dashboardUrl/],
    [
      { dashboardUrl: false as const, dashboardIngestToken: 'x'.repeat(16) },
      'CONFIG_CONFLICT',
      /exclude each other/,
    ],
  ])('is refused: %j', (options, code, sentence) => {
    expect(refusal(() => checkDashboardFeed(options))).toMatchObject({
      code,
      message: expect.stringMatching(sentence),
    });
  });
});
