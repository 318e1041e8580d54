// Carrier B's REST API as requests and answers, without HTTP: routes, the rules that hold for every command, and the account's settings.
import { randomUUID } from 'node:crypto';
import type { RestPurpose } from '../simulator.js';
import { ApiFault } from './api-fault.js';
import { CommandBody, type JsonFields } from './command-body.js';
import { COMMANDS, type Command } from './commands.js';
import { dial, legResource } from './dial.js';
import type { Leg } from './leg.js';
import type { Switchboard } from './switchboard.js';

export interface ApiRequest {
  method: string;
  /** Path without the version, character for character as received. */
  path: string;
  query: URLSearchParams;
  body: JsonFields;
}

export interface ApiAnswer {
  body: object;
  /** False for a command that had been executed before and was only answered again. */
  isExecuted: boolean;
}

export interface Route {
  purpose: RestPurpose;
  /** @throws ApiFault */
  run(request: ApiRequest): ApiAnswer;
}

/** A command on its way may meet the news of the end; after this time the server knew it. */
const RACE_MS = 2000;

interface PhoneNumber {
  id: string;
  record_type: 'phone_number';
  phone_number: string;
  connection_id: string;
  status: 'active';
}

export class Account {
  readonly #switchboard: Switchboard;
  readonly #numbers: PhoneNumber[];

  constructor(switchboard: Switchboard) {
    this.#switchboard = switchboard;
    this.#numbers = switchboard.phoneNumbers.map((number) => ({
      id: randomUUID(),
      record_type: 'phone_number',
      phone_number: number,
      connection_id: switchboard.exchange.application.id,
      status: 'active',
    }));
  }

  /** Finds what a request is for. @throws ApiFault for what does not exist */
  route({ method, path }: Pick<ApiRequest, 'method' | 'path'>): Route {
    const segments = path.split('/').slice(1);
    const [collection, id, actions, name = ''] = segments;
    const key = `${method} ${collection} ${segments.length}`;
    if (key === 'POST calls 4' && actions === 'actions') {
      const command = COMMANDS.get(name);
      if (command !== undefined) {
        const run = (request: ApiRequest) => this.#command(id ?? '', { name, command }, request.body);
        return { purpose: command.purpose, run };
      }
    }
    if (key === 'POST calls 1') return { purpose: 'dial', run: ({ body }) => this.#dial(body) };
    if (key === 'GET calls 2') return { purpose: 'look-up', run: () => this.#lookUp(id ?? '') };
    if (key === 'GET connections 3' && actions === 'active_calls') {
      return { purpose: 'look-up', run: () => this.#activeCalls(id ?? '') };
    }
    const settings = this.#settingsRoute(key, id ?? '');
    if (settings !== undefined) return { purpose: 'number', run: settings };
    throw new ApiFault(404, 10005, { detail: `a path or method that does not exist: ${key}` });
  }

  /** Notes what a refused request did wrong. */
  blame(path: string, fault: ApiFault): void {
    if (!fault.isViolation) return;
    const [, collection, id = ''] = path.split('/');
    const leg = collection === 'calls' ? this.#switchboard.find(decode(id)) : undefined;
    if (leg !== undefined) leg.violate(fault.message);
    else this.#switchboard.violations.add(fault.message);
  }

  #dial(body: JsonFields): ApiAnswer {
    const { dials } = this.#switchboard;
    const commandId = typeof body.command_id === 'string' ? body.command_id : undefined;
    const fingerprint = JSON.stringify(body);
    const known = commandId === undefined ? undefined : dials.recall(commandId, fingerprint);
    if (known !== undefined) return { body: known, isExecuted: false };
    const leg = dial(this.#switchboard, body);
    if (commandId === undefined) leg.violate('dial: no command_id');
    const answer = { data: { ...legResource(leg), is_alive: false } };
    if (commandId !== undefined) dials.remember(commandId, fingerprint, answer);
    return { body: answer, isExecuted: true };
  }

  #command(
    segment: string,
    { name, command }: { name: string; command: Command },
    fields: JsonFields,
  ): ApiAnswer {
    const leg = this.#switchboard.find(decode(segment));
    if (leg === undefined) {
      throw new ApiFault(422, 90015, { detail: `${name}: no such call`, pointer: '/call_control_id' });
    }
    if (/[:=]/.test(segment)) {
      leg.violate(`${name}: a call_control_id that is not percent-encoded`);
    }
    const body = new CommandBody(fields, name, (sentence) => leg.violate(sentence));
    const commandId = body.text('command_id');
    if (commandId === undefined) leg.violate(`${name}: no command_id`);
    const fingerprint = JSON.stringify([name, fields]);
    const known = commandId === undefined ? undefined : leg.commands.recall(commandId, fingerprint);
    if (known !== undefined) return { body: known, isExecuted: false };
    if (leg.isOver) throw this.#tooLate(leg, name);
    body.allowOnly([...command.fields, 'client_state', 'command_id']);
    leg.isSteered = true;
    leg.clientState = body.state('client_state') ?? leg.clientState;
    const extra = command.run(leg, body, this.#switchboard);
    const answer = { data: { result: 'ok', ...extra } };
    if (commandId !== undefined) leg.commands.remember(commandId, fingerprint, answer);
    return { body: answer, isExecuted: true };
  }

  #tooLate(leg: Leg, name: string): ApiFault {
    const { knownOverForMs = 0 } = leg;
    const isViolation = knownOverForMs > RACE_MS;
    const detail = isViolation ? `${name}: a command long after call.hangup` : 'no such active call';
    return new ApiFault(422, 90018, { detail, pointer: '/call_control_id', isViolation });
  }

  #lookUp(segment: string): ApiAnswer {
    const leg = this.#switchboard.find(decode(segment));
    if (leg === undefined) throw new ApiFault(404, 10005, { detail: 'no such call' });
    return { body: { data: legResource(leg) }, isExecuted: true };
  }

  #activeCalls(connectionId: string): ApiAnswer {
    if (connectionId !== this.#switchboard.exchange.application.id) {
      throw new ApiFault(404, 10005, { detail: 'no such connection' });
    }
    const data = this.#switchboard.legs.filter(({ isOver }) => !isOver).map(legResource);
    return { body: { data, meta: { total_items: data.length } }, isExecuted: true };
  }

  /** Applications and numbers: read, and changed. */
  #settingsRoute(key: string, id: string): ((request: ApiRequest) => ApiAnswer) | undefined {
    const { application } = this.#switchboard.exchange;
    const one = (resource: object | undefined): ApiAnswer => {
      if (resource === undefined) throw new ApiFault(404, 10005, { detail: 'no such application or number' });
      return { body: { data: resource }, isExecuted: true };
    };
    const list = (data: object[]): ApiAnswer => ({
      body: { data, meta: { page_number: 1, page_size: 20, total_pages: 1, total_results: data.length } },
      isExecuted: true,
    });
    const number = this.#numbers.find((known) => known.id === id);
    switch (key) {
      case 'GET call_control_applications 1':
        return () => list([application]);
      case 'GET call_control_applications 2':
        return () => one(id === application.id ? application : undefined);
      case 'PATCH call_control_applications 2':
        return ({ body }) => one(id === application.id ? change(application, body) : undefined);
      case 'GET phone_numbers 1':
        return ({ query }) => {
          const wanted = query.get('filter[phone_number]');
          return list(this.#numbers.filter(({ phone_number }) => wanted === null || phone_number === wanted));
        };
      case 'GET phone_numbers 2':
        return () => one(number);
      case 'PATCH phone_numbers 2':
        return ({ body }) => one(number === undefined ? undefined : change(number, body));
      default:
        return undefined;
    }
  }
}

/** Takes over the values of fields that the resource has. */
function change(resource: object, fields: JsonFields): object {
  for (const [name, value] of Object.entries(fields)) {
    if (Object.hasOwn(resource, name) && name !== 'id' && name !== 'record_type') {
      Object.assign(resource, { [name]: value });
    }
  }
  return resource;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
