// What Anthropic's Messages API looks at before it answers.

export interface AnthropicBlock {
  readonly type?: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly cache_control?: { readonly type?: string };
}

export interface AnthropicRequestMessage {
  readonly role: string;
  readonly content: string | readonly AnthropicBlock[];
}

export interface AnthropicRequestBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly AnthropicRequestMessage[];
  readonly system?: string | readonly AnthropicBlock[];
  readonly tools?: readonly { readonly name?: string; readonly input_schema?: { readonly type?: string } }[];
  readonly [field: string]: unknown;
}

const FIELDS =
  'model messages max_tokens stream system tools tool_choice temperature top_p top_k stop_sequences metadata thinking output_config service_tier'.split(
    ' ',
  );

/** Versions of the API, oldest first, and the fields that ended with each. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '2023-06-01': [],
  '2026-10-21': ['temperature', 'top_p', 'top_k'],
};

export function isVersion(header: unknown): header is string {
  return typeof header === 'string' && Object.hasOwn(VERSIONS, header);
}

const ID = /^[\w-]+$/;

/** The body, or what the vendor would complain about. */
export function checkAnthropicRequest(
  text: string,
  version: unknown = '2023-06-01',
): { body: AnthropicRequestBody; problem?: undefined } | { body?: undefined; problem: string } {
  try {
    const body = JSON.parse(text) as AnthropicRequestBody;
    const problem = findProblem(body, isVersion(version) ? (VERSIONS[version] ?? []) : []);
    return problem === undefined ? { body } : { problem };
  } catch {
    return { problem: 'The request body is not valid JSON' };
  }
}

function findProblem(body: AnthropicRequestBody, removed: readonly string[]): string | undefined {
  const unknown = Object.keys(body).find((field) => !FIELDS.includes(field) || removed.includes(field));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  if (typeof body.model !== 'string' || body.model === '') return 'model: Field required';
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) return 'max_tokens: Field required';
  if (body.stream !== true) return 'this emulator only streams';
  if (!Array.isArray(body.messages) || body.messages.length === 0)
    return 'messages: at least one message is required';
  if (Array.isArray(body.system) && body.system.some(isNoText))
    return 'system: text content blocks must be non-empty';
  return findMessageProblem(body.messages) ?? findToolProblem(body.tools);
}

function findMessageProblem(messages: readonly AnthropicRequestMessage[]): string | undefined {
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (messages.at(-1)?.role !== 'user') return 'messages: this model does not support a prefilled reply';
  let owed: string[] = [];
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'assistant') return `messages: unexpected role "${role}"`;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (!Array.isArray(blocks) || blocks.length === 0) return 'messages: content must not be empty';
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const answered = results.map(({ tool_use_id: id }) => id);
    if (owed.some((id) => !answered.includes(id)))
      return 'messages: `tool_use` ids were found without `tool_result` blocks immediately after';
    if (answered.some((id) => !owed.includes(id))) return 'messages: unexpected `tool_use_id`';
    if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      return 'messages: `tool_result` blocks must come first';
    const problem = blocks.map((block) => findBlockProblem(role, block)).find(Boolean);
    if (problem !== undefined) return problem;
    owed = blocks.flatMap(({ type, id = '' }) => (type === 'tool_use' ? [id] : []));
  }
  return undefined;
}

function findBlockProblem(role: string, block: AnthropicBlock): string | undefined {
  if (block.type === 'text')
    return isNoText(block) ? 'messages: text content blocks must be non-empty' : undefined;
  if (block.type === 'tool_result' && role === 'user') return undefined;
  if (block.type === 'thinking' && role === 'assistant') return undefined;
  if (block.type !== 'tool_use' || role !== 'assistant') return `messages: unexpected block "${block.type}"`;
  if (!ID.test(block.id ?? '') || !ID.test(block.name ?? '')) return 'tool_use: bad id or name';
  const isObject = typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input);
  return isObject ? undefined : 'tool_use.input: Input should be a valid dictionary';
}

function isNoText({ type, text }: AnthropicBlock): boolean {
  return type !== 'text' || typeof text !== 'string' || text.trim() === '';
}

function findToolProblem(tools: AnthropicRequestBody['tools']): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools)) return 'tools: Input should be a valid list';
  const isBad = tools.some(
    ({ name = '', input_schema: schema }) => !/^[\w-]{1,64}$/.test(name) || schema?.type !== 'object',
  );
  return isBad ? 'tools: a tool needs a name and an input_schema of an object' : undefined;
}
