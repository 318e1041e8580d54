// What the Live API looks at before it takes a message. Source: Google, Live API reference and types of its SDK.
import { type Fields, isFields, readBase64, toFields } from './message-fields.js';

/** Closes the connection. */
export interface Objection {
  readonly code: number;
  readonly reason: string;
}

const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  setup:
    'model generationConfig systemInstruction tools realtimeInputConfig sessionResumption contextWindowCompression inputAudioTranscription outputAudioTranscription proactivity historyConfig prefixTurns safetySettings'.split(
      ' ',
    ),
  clientContent: ['turns', 'turnComplete'],
  realtimeInput: 'audio audioStreamEnd video text activityStart activityEnd'.split(' '),
  toolResponse: ['functionResponses'],
};

const NESTED: readonly (readonly [path: string, names: string])[] = [
  [
    'generationConfig',
    'candidateCount maxOutputTokens temperature topP topK responseModalities speechConfig mediaResolution seed',
  ],
  ['generationConfig.speechConfig', 'voiceConfig multiSpeakerVoiceConfig languageCode'],
  ['realtimeInputConfig', 'automaticActivityDetection activityHandling turnCoverage'],
  [
    'realtimeInputConfig.automaticActivityDetection',
    'disabled startOfSpeechSensitivity prefixPaddingMs endOfSpeechSensitivity silenceDurationMs',
  ],
  ['sessionResumption', 'handle transparent'],
  ['contextWindowCompression', 'slidingWindow triggerTokens'],
  ['contextWindowCompression.slidingWindow', 'targetTokens'],
  ['systemInstruction', 'role parts'],
];

const ENUMS: readonly (readonly [path: string, values: RegExp])[] = [
  [
    'realtimeInputConfig.automaticActivityDetection.startOfSpeechSensitivity',
    /^START_SENSITIVITY_(HIGH|LOW)$/,
  ],
  ['realtimeInputConfig.automaticActivityDetection.endOfSpeechSensitivity', /^END_SENSITIVITY_(HIGH|LOW)$/],
  ['realtimeInputConfig.activityHandling', /^(START_OF_ACTIVITY_INTERRUPTS|NO_INTERRUPTION)$/],
];

/** Of a JSON Schema as such the service takes no notice, and calls without arguments. */
const DECLARATION = 'name description parameters response behavior'.split(' ');
const SCHEMA =
  'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
    ' ',
  );

/** A message is one of four kinds, with fields that are known. */
export function checkMessage(message: Fields): Objection | undefined {
  const kinds = Object.keys(message);
  const [kind = ''] = kinds;
  const known = Object.hasOwn(MESSAGES, kind) ? MESSAGES[kind] : undefined;
  if (kinds.length !== 1 || known === undefined)
    return invalid(`Invalid JSON payload received. Unknown name "${kinds.join(' ')}"`);
  if (!isFields(message[kind])) return invalid(`Invalid value at '${kind}'`);
  return unknownName(message[kind], known, kind);
}

export function checkSetup(setup: Fields): Objection | undefined {
  const { model, generationConfig, tools, proactivity } = setup;
  if (typeof model !== 'string' || !model.startsWith('models/'))
    return invalid('setup.model is required: models/{model}');
  if (model === 'models/no-such-model')
    return { code: 1008, reason: `${model} is not found for API version v1beta` };
  for (const [path, names] of NESTED) {
    const value = at(setup, path);
    const objection =
      value === undefined ? undefined : unknownName(toFields(value), names.split(' '), `setup.${path}`);
    if (objection !== undefined) return objection;
  }
  for (const [path, values] of ENUMS) {
    const value = at(setup, path);
    if (value !== undefined && !values.test(String(value)))
      return invalid(`Invalid value at 'setup.${path}'`);
  }
  if (JSON.stringify(toFields(generationConfig).responseModalities) !== '["AUDIO"]')
    return invalid('This model answers with AUDIO alone.');
  if (toFields(proactivity).proactiveAudio === false) return invalid('proactiveAudio cannot be false.');
  return checkTools(tools);
}

/** Samples of a piece of caller audio, or what is wrong with it. */
export function readAudio(audio: unknown): Int16Array | Objection {
  const { data, mimeType } = toFields(audio);
  if (mimeType !== 'audio/pcm;rate=16000') return invalid(`Unsupported mime type ${String(mimeType)}`);
  const bytes = readBase64(data);
  if (bytes === undefined || bytes.length === 0 || bytes.length % 2 !== 0) return invalid('Invalid audio.');
  return new Int16Array(new Uint8Array(bytes).buffer);
}

/** Texts of turns, or what is wrong with them. */
export function readTurns(turns: unknown): { role: string; text: string }[] | Objection {
  const read: { role: string; text: string }[] = [];
  for (const turn of Array.isArray(turns) ? turns.map(toFields) : []) {
    const { role, parts } = turn;
    const texts = Array.isArray(parts) ? parts.map((part) => toFields(part).text) : [];
    const fits = texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== '');
    if (!fits || (role !== 'user' && role !== 'model')) return invalid("Invalid value at 'turns'");
    read.push({ role: role === 'model' ? 'assistant' : 'user', text: texts.join(' ') });
  }
  return read;
}

export function isObjection<T>(value: T | Objection): value is Objection {
  return isFields(value) && typeof value.reason === 'string';
}

export function invalid(reason: string): Objection {
  return { code: 1007, reason };
}

function checkTools(tools: unknown): Objection | undefined {
  if (tools === undefined) return undefined;
  for (const tool of Array.isArray(tools) ? tools.map(toFields) : [{}]) {
    const { functionDeclarations } = tool;
    if (!Array.isArray(functionDeclarations)) return invalid('Invalid tools.');
    for (const declaration of functionDeclarations.map(toFields)) {
      const objection = unknownName(declaration, DECLARATION, 'setup.tools.functionDeclarations');
      if (objection !== undefined) return objection;
      if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(String(declaration.name)))
        return invalid('Invalid function name.');
      if (!/^(BLOCKING|NON_BLOCKING|undefined)$/.test(String(declaration.behavior)))
        return invalid('Invalid behavior.');
      const mismatch = checkSchema(declaration.parameters, 'parameters');
      if (mismatch !== undefined) return mismatch;
    }
  }
  return undefined;
}

function checkSchema(schema: unknown, where: string): Objection | undefined {
  if (schema === undefined) return undefined;
  const { type, anyOf, properties, items, ...rest } = toFields(schema);
  if (anyOf === undefined && !/^(STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT)$/.test(String(type)))
    return invalid(`Invalid type at '${where}'`);
  if (type === 'ARRAY' && items === undefined) return invalid(`Missing items at '${where}'`);
  const parts = [...Object.values(toFields(properties)), ...(Array.isArray(anyOf) ? anyOf : []), items];
  return parts.reduce<Objection | undefined>(
    (found, part) => found ?? checkSchema(part, `${where}.…`),
    unknownName(rest, SCHEMA, where),
  );
}

function at(fields: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => toFields(value)[name], fields);
}

function unknownName(fields: Fields, known: readonly string[], where: string): Objection | undefined {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  return invalid(`Invalid JSON payload received. Unknown name "${unknown}" at '${where}'`);
}
