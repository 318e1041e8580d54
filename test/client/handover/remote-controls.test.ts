// Commands on calls that another process has.
import { describe, expect, it } from 'vitest';
import { NotFoundError } from '../../../src/base/errors.js';
import { controlsOver } from '../../../src/client/handover/remote-controls.js';
import type { CallControls } from '../../../src/contract/call-command.js';

const nowhere = async () => {
  throw new NotFoundError('No such call.');
};
const own: CallControls = {
  hangUp: nowhere,
  transfer: nowhere,
  sendDigits: nowhere,
  say: nowhere,
  inform: nowhere,
  pauseRecording: nowhere,
  resumeRecording: nowhere,
};

function controls(command: () => Promise<{ status: number; body: string }>): CallControls {
  return controlsOver(own, { isOwn: () => false, other: () => ({ command }) });
}

describe('a command on a call of another process', () => {
  it('is answered as that one does', async () => {
    const done = controls(async () => ({ status: 200, body: '{"outcome":"heard"}' }));
    expect(await done.say('call-1', 'Hello.', {})).toBe('heard');
    const error = { code: 'REQUEST_CONFLICT', message: 'The call is over.' };
    const refused = controls(async () => ({ status: 409, body: JSON.stringify({ error }) }));
    await expect(refused.inform('call-1', 'Hello.')).rejects.toMatchObject(error);
    await expect(refused.pauseRecording('call-1')).rejects.toMatchObject(error);
    await expect(refused.resumeRecording('call-1')).rejects.toMatchObject(error);
  });

  it('is one on a call of nobody where that one does not have it either', async () => {
    const gone = controls(async () => ({ status: 404, body: '{}' }));
    await expect(gone.hangUp('call-1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('fails in our words where that one does not answer', async () => {
    const lost = controls(async () => {
      throw new Error('socket hang up');
    });
    for (const run of [
      lost.hangUp('call-1'),
      lost.say('call-1', 'Hello.', {}),
      lost.transfer('call-1', '+15550100'),
    ])
      await expect(run).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
  });
});
