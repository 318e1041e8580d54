// Why a call cannot take a command now.
import { RequestError } from '../../base/errors.js';

/** What may stand in the way of a command that needs agent and caller to be talking. */
export interface CommandObstacles {
  readonly isEnding: boolean;
  readonly isHandedOver: boolean;
  readonly isSendingKeys: boolean;
  readonly isMachine: boolean;
  readonly isUnconnected: boolean;
  readonly isWithoutStream: boolean;
}

/** The most telling one first. */
const SENTENCES: readonly (readonly [keyof CommandObstacles, string])[] = [
  ['isEnding', 'It is ending.'],
  ['isHandedOver', 'It is being handed over already.'],
  ['isSendingKeys', 'Keys are being sent.'],
  ['isMachine', 'A machine has answered.'],
  ['isUnconnected', 'It is not connected yet: wait for onCallStart.'],
  ['isWithoutStream', 'Its media stream is not up.'],
];

export function isObstructed(obstacles: CommandObstacles): boolean {
  return SENTENCES.some(([name]) => obstacles[name]);
}

/** @throws RequestError that begins with `sentence` and says what is in the way. */
export function demandUnobstructed(sentence: string, obstacles: Partial<CommandObstacles>): void {
  const [, why] = SENTENCES.find(([name]) => obstacles[name] === true) ?? [];
  if (why !== undefined) throw new RequestError('REQUEST_CONFLICT', `${sentence} ${why}`);
}
