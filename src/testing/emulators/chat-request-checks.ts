// What a Chat Completions server looks at before it answers.

export interface ChatRequestMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export interface ChatRequestBody {
  readonly model: string;
  readonly messages: readonly ChatRequestMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly [field: string]: unknown;
}

export interface ChatRequestRules {
  readonly dialect: 'openai' | 'common';
  readonly unknownFields: readonly string[];
}

const COMMON_FIELDS =
  'model messages stream stream_options tools tool_choice parallel_tool_calls temperature top_p seed stop user frequency_penalty presence_penalty response_format'.split(
    ' ',
  );
const FIELDS = {
  openai: [
    ...COMMON_FIELDS,
    'max_completion_tokens',
    'reasoning_effort',
    'verbosity',
    'service_tier',
    'metadata',
    'prompt_cache_key',
  ],
  common: [...COMMON_FIELDS, 'max_tokens', 'reasoning_effort'],
};

/** The body, and what a server would complain about. The body is only good when there is no problem. */
export function checkChatRequest(
  text: string,
  rules: ChatRequestRules,
): { body: ChatRequestBody; problem: string | undefined } {
  try {
    const body = JSON.parse(text) as ChatRequestBody;
    return { body, problem: findProblem(body, rules) };
  } catch {
    return { body: { model: '', messages: [] }, problem: 'the body is not JSON' };
  }
}

function findProblem(
  body: ChatRequestBody,
  { dialect, unknownFields }: ChatRequestRules,
): string | undefined {
  for (const field of Object.keys(body))
    if (unknownFields.includes(field) || !FIELDS[dialect].includes(field))
      return `Unrecognized request argument supplied: ${field}`;
  if (typeof body.model !== 'string' || body.model === '') return 'you must provide a model parameter';
  if (body.stream !== true) return 'this emulator only streams';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'messages must not be empty';
  return findMessageProblem(body.messages, dialect) ?? findToolProblem(body.tools);
}

function findMessageProblem(
  messages: readonly ChatRequestMessage[],
  dialect: ChatRequestRules['dialect'],
): string | undefined {
  const roles = ['system', 'user', 'assistant', 'tool', ...(dialect === 'openai' ? ['developer'] : [])];
  let owed = new Set<string>();
  for (const { role, content, tool_calls: calls, tool_call_id: id } of messages) {
    if (!roles.includes(role)) return `Invalid value: '${role}'`;
    if (typeof content !== 'string' && (role !== 'assistant' || calls === undefined))
      return `the content of a ${role} message must be a string`;
    if (role === 'tool') {
      if (id === undefined || !owed.delete(id)) return 'a tool message must answer a tool call before it';
      continue;
    }
    if (owed.size > 0) return 'an assistant message with tool_calls must be followed by a message for each';
    if (calls?.length === 0) return 'tool_calls must not be empty';
    if (calls?.some(({ type, function: called }) => type !== 'function' || !isJson(called.arguments)))
      return 'a tool call must be a function with arguments';
    owed = new Set(calls?.map((call) => call.id));
  }
  return owed.size > 0 ? 'tool calls without an answer' : undefined;
}

function findToolProblem(tools: unknown): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return 'tools must not be empty';
  for (const tool of tools) {
    const { type, function: called } = tool ?? {};
    if (type !== 'function' || !/^[\w-]{1,64}$/.test(called?.name ?? ''))
      return 'a tool must be a named function';
    if (called.parameters !== undefined && called.parameters.type !== 'object')
      return 'parameters must be a schema of an object';
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
