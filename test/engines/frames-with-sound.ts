// Set up for calls on engines: a frame with a sound in it is voiced, so that a test says with one sample who speaks.
import { vi } from 'vitest';

vi.mock('../../src/engines/voice-activity.js', () => ({
  createVoiceActivity: () => ({ isVoiced: (frame: Int16Array) => frame[0] !== 0, close() {} }),
}));
