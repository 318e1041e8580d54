import { describe, expect, it } from 'vitest';
import { CALL_PHASES, type CurrentPhase } from '../../../../src/contract/call-record.js';

interface LiveCallPart {
  PhaseLabel(props: { phase: CurrentPhase | null }): { type: string; props: object } | null;
}

// Named at run time: the compiler of the tests knows no markup.
const part: string = '../../../../src/dashboard/ui/parts/live-call.tsx';
const { PhaseLabel } = (await import(part)) as LiveCallPart;

describe('the label of a phase', () => {
  it.each(CALL_PHASES)('names %s, for eye and style', (name) => {
    const label = PhaseLabel({ phase: { name, since: 1 } });
    expect(label).toMatchObject({ type: 'span', props: { class: `phase ${name}`, children: name } });
  });

  it('is none where there is no conversation', () => expect(PhaseLabel({ phase: null })).toBeNull());
});
