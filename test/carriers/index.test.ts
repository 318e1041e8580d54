import { describe, expect, it } from 'vitest';
import { createOtherDoors } from '../../src/carriers/index.js';

describe('createOtherDoors', () => {
  it('opens the doors of every carrier but the configured one', () => {
    expect(createOtherDoors('carrier-a').map((door) => door.id)).toEqual(['carrier-b']);
    expect(createOtherDoors('carrier-b').map((door) => door.id)).toEqual(['carrier-a']);
  });
});
