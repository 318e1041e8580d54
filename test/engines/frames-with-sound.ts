// Set up for calls on engines: a frame with a sound in it is voiced, so that a test says with one sample who speaks.
import { vi } from 'vitest';
import { levelDbfs } from '../../src/audio/level.js';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({
    hear: (frame: Int16Array) => ({ voiced: frame[0] !== 0, dbfs: levelDbfs(frame) }),
    close() {},
  }),
}));
