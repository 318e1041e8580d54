// A fact as it is on disk: one row. Its key puts the facts of a call one after the other, and calls in the order in which they came.
import { crc32 } from 'node:zlib';
import type { CallEvent } from '../../contract/call-event.js';

/** Where a fact stands: which call, counted from the first one of the folder, and which of the facts of it that are kept. From 0. */
export interface Place {
  readonly call: number;
  readonly row: number;
}

/** What a row is written from. */
export interface Row extends Place {
  readonly value: string;
  /** True when its call is over. */
  readonly isOver: boolean;
}

/** Keys from `gte` up to but not `lt`. */
export interface KeyRange {
  readonly gte: string;
  readonly lt: string;
}

/** The facts of all calls. */
export const ALL_ROWS: KeyRange = { gte: 'call/', lt: 'call0' };

/** Calls that were deleted, by our ID, and those whose bytes may still be in a file, by their number. */
export const FORGOTTEN: KeyRange = { gte: 'forgotten/', lt: 'forgotten0' };
export const ERASING: KeyRange = { gte: 'erasing/', lt: 'erasing0' };

const KEY_LENGTH = 'call/00000000/000000'.length;
const SUM_LENGTH = 8;

export const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');

/** Room for 4 billion calls of 16 million facts each. */
export function toKey({ call, row }: Place): string {
  return `call/${hex(call, 8)}/${hex(row, 6)}`;
}

export function toForgottenKey(callId: string): string {
  return `${FORGOTTEN.gte}${callId}`;
}

export function toErasingKey(call: number): string {
  return `${ERASING.gte}${hex(call, 8)}`;
}

export function rowsOf(call: number): KeyRange {
  return { gte: `call/${hex(call, 8)}/`, lt: `call/${hex(call, 8)}0` };
}

/** @throws Error for an invalid key. */
export function parseKey(key: string): Place {
  const [call, row] = [Number.parseInt(key.slice(5, 13), 16), Number.parseInt(key.slice(14), 16)];
  if (key.length !== KEY_LENGTH || Number.isNaN(call + row)) throw damaged();
  return { call, row };
}

/**
 * The text of a row: a checksum, since the disk may lie, and JSON. Only the first row of a call holds what all of them share;
 * `first` is its fact.
 */
export function encodeRow(event: CallEvent, first: CallEvent | undefined): string {
  let kept: object = event;
  if (first !== undefined) {
    const { callId: _callId, nodeId, term, originId, ...rest } = event;
    const isTaken = nodeId !== first.nodeId || term !== first.term || originId !== first.originId;
    kept = isTaken ? { nodeId, term, originId, ...rest } : rest;
  }
  const json = JSON.stringify(kept);
  return `${hex(crc32(json), SUM_LENGTH)}${json}`;
}

/** The text of a fact that stands alone. */
export function encodeFact(event: CallEvent): string {
  return encodeRow(event, undefined);
}

/** Undefined for a text that is not as it was written. */
export function decodeFact(value: string): CallEvent | undefined {
  try {
    return JSON.parse(toJson(value)) as CallEvent;
  } catch {
    return undefined;
  }
}

/** The facts of a call, of all of its rows. @throws Error for a text that is not as it was written. */
export function decodeRows(values: readonly string[]): CallEvent[] {
  // One list is parsed in half the time of its members.
  const events = JSON.parse(`[${values.map(toJson).join(',')}]`) as CallEvent[];
  const [first] = events;
  if (first === undefined) return events;
  // A log may be older than terms.
  first.term ??= 1;
  const { callId, nodeId, term, originId } = first;
  for (const event of events) {
    event.callId ??= callId;
    // What is another's names all three, but for an origin that it is itself.
    if (event.nodeId === undefined && originId !== undefined) event.originId = originId;
    event.nodeId ??= nodeId;
    event.term ??= term;
  }
  return events;
}

function toJson(value: string): string {
  const json = value.slice(SUM_LENGTH);
  if (Number.parseInt(value.slice(0, SUM_LENGTH), 16) !== crc32(json)) throw damaged();
  return json;
}

/** A row is missing, or not as it was written. The code is the one that the library gives to a file of its own in that state. */
export function damaged(): Error {
  return Object.assign(new Error('A fact on disk is not as it was written.'), { code: 'LEVEL_CORRUPTION' });
}
