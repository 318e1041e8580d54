import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/contract/call-record.js';
import { reduceCall } from '../../../src/events/reduce.js';
import { ended, stamp, started, toolCall, turn } from '../../support/call-facts.js';
import { GREETING } from './conversation.mjs';
import { type Evidence, expectsAgent, gapOf, isUnknown, judgeFacts, LAWS, momentAt } from './judge.mjs';

const ASKS = [
  { verb: 'tell', marker: 'kadobiru' },
  { verb: 'book', marker: 'mobitela' },
];

/** The words of a text from `startMs` on, at the pace of the tone voice. */
function words(text: string, startMs: number) {
  let at = startMs;
  return text.split(' ').map((word) => {
    const heard = { text: word.toLowerCase(), startMs: at, endMs: at + word.length * 60 };
    at = heard.endMs + 60;
    return heard;
  });
}

function recordOf(...facts: Parameters<typeof stamp>[0]): CallRecord {
  const record = stamp([started(), ...facts, ended({ endReason: 'caller-hangup' })]).reduce<
    CallRecord | undefined
  >(reduceCall, undefined);
  if (record === undefined) throw new Error('no record');
  const incident = { at: 0, code: 'process-replaced', message: 'A process was replaced.', durationMs: 1 };
  return { ...record, incidents: [incident] };
}

const booked = toolCall({ name: 'book', startedAt: 0, durationMs: 1200, error: null });

/** A call of 30 s that was killed after 12 s, while the agent spoke, and went on after 1.5 s. */
function whole(changes: Partial<Evidence> = {}): Evidence {
  return {
    plan: { kind: 'tools', asks: ASKS, ends: ['caller-hangup'] },
    kills: [{ atMs: 12_000, restartMs: 1500 }],
    rangMs: -100,
    endMs: 30_000,
    answeredMs: 0,
    heard: [
      ...words(GREETING, 300),
      ...words('kadobirua comes first.', 8000),
      ...words('kadobirub is in', 11_000),
      ...words('kadobirub is in the middle. kadobiruc ends it.', 14_500),
      ...words('mobitelaa takes a moment. mobitelad is done for you.', 22_000),
    ],
    said: [...words('tell kadobiru.', 6000), ...words('book mobitela.', 20_000)],
    agentSpeech: [
      { startMs: 300, endMs: 3500 },
      { startMs: 8000, endMs: 12_100 },
      { startMs: 14_500, endMs: 17_500 },
      { startMs: 22_000, endMs: 25_500 },
    ],
    callerSpeech: [
      { startMs: 6000, endMs: 6900 },
      { startMs: 20_000, endMs: 20_900 },
    ],
    streams: [
      { startMs: 0, endMs: 12_000 },
      { startMs: 13_700, endMs: 30_000 },
    ],
    transferredMs: null,
    hungUpMs: null,
    effects: [{ tool: 'book', marker: 'mobitela', key: 'k1', atMs: 22_500 }],
    records: [recordOf({ type: 'turn.completed', turn: { ...turn(0), toolCalls: [booked] } })],
    starts: 1,
    ends: 1,
    seen: { cost: 0, inputTokens: 0 },
    violations: [],
    ...changes,
  };
}

const breachesOf = (evidence: Evidence) => Object.values(LAWS).flatMap((law) => [...law(evidence)]);

describe('the judge of a killed call', () => {
  it('lets a process that dies in the first moment of a call leave its start to be told again', () => {
    const first = { atMs: 40, restartMs: 1500 };
    const twice = 'onCallStart was called 2 times';
    expect(breachesOf(whole({ starts: 2, kills: [first] }))).not.toContain(twice);
    expect(breachesOf(whole({ starts: 2 }))).toContain(twice);
    expect(breachesOf(whole({ starts: 2, kills: [{ ...first, atMs: -200 }] }))).toContain(twice);
    expect(breachesOf(whole({ starts: 2, kills: [{ ...first, atMs: 500 }] }))).toContain(twice);
    expect(breachesOf(whole({ starts: 3, kills: [first] }))).toContain('onCallStart was called 3 times');
    // Whoever has kept the start has told of it.
    expect(breachesOf(whole({ starts: 0, kills: [first] }))).toContain('onCallStart was called 0 times');
  });

  it('asks for no incident of a call that was over before there was another process', () => {
    const records = whole().records.map((record) => ({ ...record, incidents: [] }));
    const missing = '1 kills, 0 incidents of a process that was replaced';
    expect(breachesOf(whole({ records }))).toContain(missing);
    expect(breachesOf(whole({ records, endMs: 13_400 }))).not.toContain(missing);
  });

  it('expects an agent where somebody answers whom a process waits for, and where none has handed them over', () => {
    const placed = whole({
      answeredMs: 5000,
      plan: { kind: 'outbound', asks: [], ends: [], callee: { type: 'human' } },
    });
    expect(expectsAgent(placed, { atMs: 2000, restartMs: 1500 })).toBe(true);
    expect(expectsAgent(placed, { atMs: 4000, restartMs: 1500 })).toBe(false);
    expect(expectsAgent(placed, { atMs: 9000, restartMs: 1500 })).toBe(true);
    expect(expectsAgent(whole({ transferredMs: 8500 }), { atMs: 9000, restartMs: 1500 })).toBe(false);
  });

  it('counts no silence before somebody has answered, and no restart that was over by then', () => {
    const evidence = whole({ answeredMs: 7000, callerSpeech: [] });
    const gap = (atMs: number) => gapOf(evidence, { atMs, restartMs: 1500 });
    expect(gap(4000)).toEqual({ silentMs: 1000, beyondMs: 1000, awayMs: 1000 });
    expect(gap(6000)).toEqual({ silentMs: 1000, beyondMs: 500, awayMs: 1000 });
    expect(gapOf({ ...evidence, answeredMs: null }, { atMs: 4000, restartMs: 1500 }).silentMs).toBe(0);
  });

  it('counts the silence of a kill until the next one', () => {
    const [first, second] = [
      { atMs: 12_000, restartMs: 1500 },
      { atMs: 13_900, restartMs: 1500 },
    ];
    const evidence = whole({ kills: [first, second] });
    expect(gapOf({ ...evidence, endMs: second.atMs }, first).silentMs).toBeLessThan(2000);
  });

  it('finds nothing where the sentence that was cut is said again, and the rest once', () => {
    expect(breachesOf(whole())).toEqual([]);
  });

  const [good] = whole().records;
  if (good === undefined) throw new Error('no record');
  const again = (text: string, atMs: number) => [...whole().heard, ...words(text, atMs)];
  it.each<[string, Partial<Evidence>, RegExp]>([
    ['no record', { records: [] }, /no record/],
    ['two records', { records: [good, good] }, /2 records/],
    [
      'an end that is not that of the script',
      { records: [{ ...good, endReason: 'process-lost' }] },
      /ended as process-lost/,
    ],
    ['a call that is up', { records: [{ ...good, status: 'active' }] }, /it is active/],
    ['a kill that the record does not tell of', { records: [{ ...good, incidents: [] }] }, /0 incidents/],
    ['a call that began twice', { starts: 2 }, /onCallStart/],
    ['an end that nobody was told of', { ends: 0 }, /onCallEnd/],
    ['a second greeting', { heard: again(GREETING, 26_000) }, /"greetings …" was said 2 times/],
    [
      'a sentence that was heard and is said again',
      { heard: again('kadobirua comes first.', 18_000) },
      /"kadobirua …"/,
    ],
    ['a sentence that is said for the third time', { heard: again('kadobirub is in', 26_000) }, /3 times/],
    [
      'a question without an answer',
      { heard: whole().heard.slice(0, -9) },
      /"book mobitela" was not answered/,
    ],
    [
      'silence for longer than the restart and two seconds',
      {
        agentSpeech: [
          { startMs: 8000, endMs: 12_100 },
          { startMs: 15_700, endMs: 17_500 },
        ],
      },
      /3.6 s of silence, the restart took 1.5 s/,
    ],
    [
      'a tool that ran twice',
      { effects: [...whole().effects, { tool: 'book', marker: 'mobitela', key: 'k2', atMs: 24_000 }] },
      /"book mobitela" ran 2 times/,
    ],
    [
      'a tool that the record does not know',
      { effects: [{ tool: 'check', marker: 'x', key: 'k3', atMs: 1 }] },
      /the record has 0/,
    ],
    ['what had been paid and is no longer', { seen: { cost: 1, inputTokens: 0 } }, /cost: 0/],
    ['what the carrier refuses', { violations: ['a second stream'] }, /a second stream/],
  ])('finds %s', (_what, changes, expected) => {
    const usage = {
      sttSeconds: 30,
      llmInputTokens: 0,
      llmCachedTokens: 0,
      llmOutputTokens: 0,
      ttsCharacters: 999,
      telephonySeconds: 60,
    };
    const evidence = whole(changes);
    const records = evidence.records.map((record) => ({ ...record, usage }));
    expect(breachesOf({ ...evidence, records }).join('; ')).toMatch(expected);
  });

  it('lets a tool run again under its key, where it may', () => {
    const effects = [100, 200].map((atMs) => ({ tool: 'check', marker: 'mobitela', key: 'k', atMs }));
    const records = [
      {
        ...good,
        turns: good.turns.map((known) => ({ ...known, toolCalls: [{ ...booked, name: 'check' }] })),
      },
    ];
    expect(breachesOf(whole({ effects, records }))).toEqual([]);
  });

  it('lets a caller be lost who leaves while nobody is there, and no other', () => {
    const records = [{ ...good, endReason: 'process-lost' as const }];
    const [first] = whole().kills;
    const kills = [...(first === undefined ? [] : [first]), { atMs: 25_600, restartMs: 1500 }];
    const leaves = { records, kills, endMs: 26_500 };
    expect(breachesOf(whole(leaves))).toEqual([]);
    expect(breachesOf(whole({ ...leaves, said: whole().said.slice(0, 2) })).join()).toMatch(/process-lost/);
    expect(breachesOf(whole({ ...leaves, endMs: 30_000 })).join()).toMatch(/process-lost/);
  });

  it('does not ask for an answer to what was said while nobody was there', () => {
    const said = [...whole().said, ...words('tell zuzuzuzu.', 12_500)];
    const plan = { ...whole().plan, asks: [...ASKS, { verb: 'tell', marker: 'zuzuzuzu' }] };
    expect(breachesOf(whole({ said, plan }))).toEqual([]);
    // Nor to what the caller has not let be said.
    const over = { said: [...whole().said, ...words('tell zuzuzuzu.', 9000)], plan };
    const speaksOn = { startMs: 13_000, endMs: 13_600 };
    expect(breachesOf(whole({ ...over, callerSpeech: [...whole().callerSpeech, speaksOn] }))).toEqual([]);
    expect(breachesOf(whole(over))).toEqual(['"tell zuzuzuzu" was not answered']);
    const later = [...whole().said, ...words('tell zuzuzuzu.', 18_000)];
    expect(breachesOf(whole({ said: later, plan }))).toEqual(['"tell zuzuzuzu" was not answered']);
  });

  it('reads a word that a hole has cut in two', () => {
    const heard = whole().heard.map((word) =>
      word.text === 'mobitelaa'
        ? [
            { ...word, text: 'm' },
            { ...word, text: 'obitelaa' },
          ]
        : [word],
    );
    expect(breachesOf(whole({ heard: heard.flat() }))).toEqual([]);
  });

  it.each<[number, string]>([
    [50, 'ringing'],
    [200, 'greeting'],
    [1000, 'greeting'],
    [5000, 'listening'],
    [6500, 'caller speaks'],
    [7200, 'endpointing'],
    [7800, 'thinking'],
    [9000, 'agent speaks'],
    [13_000, 'without a stream'],
    [23_000, 'tool'],
  ])('says what the call was doing after %i ms: %s', (atMs, expected) => {
    expect(momentAt(whole(), atMs)).toBe(expected);
  });

  it.each<[Partial<Evidence>, string]>([
    [{ transferredMs: 8500 }, 'transfer'],
    [
      { plan: { kind: 'voicemail', asks: [], ends: [], isMachine: true, callee: { type: 'machine' } } },
      'voicemail',
    ],
    [
      { answeredMs: null, plan: { kind: 'outbound', asks: [], ends: [], callee: { type: 'human' } } },
      'dialling',
    ],
    [{ plan: { kind: 'goodbye', asks: [{ verb: 'goodbye', marker: 'kadobiru' }], ends: [] } }, 'goodbye'],
  ])('says it of %j', (changes, expected) => {
    expect(momentAt(whole(changes), 9000)).toBe(expected);
  });

  it('counts what the caller says in a gap as no silence, and the agent as away', () => {
    const callerSpeech = [{ startMs: 12_800, endMs: 13_500 }];
    expect(gapOf(whole({ callerSpeech }), { atMs: 12_000, restartMs: 1500 })).toEqual({
      silentMs: 1000,
      beyondMs: -500,
      awayMs: 2500,
    });
  });

  it('promises nothing to who rings or answers while nobody is there', () => {
    const meanwhile = whole({ kills: [{ atMs: -500, restartMs: 1000 }] });
    const placed = { ...meanwhile, plan: { ...meanwhile.plan, callee: { type: 'human' as const } } };
    expect(isUnknown(whole(), { tellsOnce: true })).toBe(false);
    expect(isUnknown(meanwhile, { tellsOnce: false })).toBe(true);
    expect(isUnknown(placed, { tellsOnce: false })).toBe(false);
    expect(isUnknown(placed, { tellsOnce: true })).toBe(true);
    const machine = whole({ plan: { ...placed.plan, isMachine: true } });
    expect(isUnknown(machine, { tellsOnce: true })).toBe(true);
    const amd = { answeredBy: 'machine' as const, detectedAt: 0 };
    const told = { ...machine, records: machine.records.map((record) => ({ ...record, amd })) };
    expect(isUnknown(told, { tellsOnce: true })).toBe(false);
  });
});

describe('the judge of stored facts', () => {
  it.each<[string, Parameters<typeof stamp>[0], string[]]>([
    ['nothing in a call from its beginning to its end', [started(), ended()], []],
    ['a call without an end', [started()], ['call.ended was stated 0 times']],
    ['two ends', [started(), ended(), ended()], ['call.ended was stated 2 times']],
    ['two beginnings', [started(), started(), ended()], ['call.started was stated 2 times']],
  ])('finds %s', (_what, facts, expected) => {
    expect(judgeFacts(stamp(facts))).toEqual(expected);
  });

  it('finds facts that are out of order', () => {
    expect(judgeFacts(stamp([started(), ended()]).toReversed())).toEqual(['the facts are out of order']);
  });
});
