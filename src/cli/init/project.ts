// The files of a new project, as texts. Where they go, and what was chosen, is said by others.
import type { CarrierService, Service, ServiceOption, Variable } from './services.js';

/** Who hears, thinks and speaks. */
export type Voice =
  | { readonly mode: 'pipeline'; readonly stt: Service; readonly llm: Service; readonly tts: Service }
  | { readonly mode: 'realtime'; readonly realtime: Service };

export interface Project {
  /** Of the npm package. */
  readonly name: string;
  readonly carrier: CarrierService;
  /** The carrier's firm. */
  readonly carrierVendor: string;
  readonly voice: Voice;
  /** Packages by name, and where npm finds them. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** A stage of the agent: its option of `phone.agent`, the entry of the package, and who does it. */
interface Part {
  readonly option: string;
  readonly entry: string;
  readonly service: Service;
}

/** All files by name. */
export function projectFiles(project: Project): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', packageFile(project)],
    ['agent.js', agentFile(project)],
    ['server.js', serverFile(project)],
    ['agent.test.js', testFile(project)],
    ['.env.example', environmentFile(project)],
    ['.gitignore', '.env\n.offhook/\nnode_modules/\n'],
    ['README.md', readmeFile(project)],
  ]);
}

/** What the project reads from its environment, each variable once. */
export function projectVariables({ carrier, carrierVendor, voice }: Project): readonly Variable[] {
  const all = [
    ...carrier.variables.map(({ name, source }) => ({ name, source: `${carrierVendor}: ${source}` })),
    { name: 'PHONE_NUMBER', source: `${carrierVendor}: your number, in the form +15550100 (E.164).` },
    ...partsOf(voice).flatMap(({ service }) => service.variables),
    {
      name: 'WEBHOOK_HOST',
      source: 'The public host name that reaches this server over TLS, such as voice.example.com.',
    },
    {
      name: 'DASHBOARD_TOKEN',
      source: 'Protects the dashboard. Make one up: at least 16 characters, no spaces.',
    },
  ];
  return [...new Map(all.map((variable) => [variable.name, variable])).values()];
}

function partsOf(voice: Voice): readonly Part[] {
  if (voice.mode === 'realtime') return [{ option: 'engine', entry: 'realtime', service: voice.realtime }];
  return (['stt', 'llm', 'tts'] as const).map((stage) => ({
    option: stage,
    entry: stage,
    service: voice[stage],
  }));
}

function packageFile({ name, dependencies, optionalDependencies }: Project): string {
  const content = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: { start: 'node server.js', test: 'node --test' },
    dependencies,
    ...(Object.keys(optionalDependencies).length > 0 && { optionalDependencies }),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function importsOf(voice: Voice): string {
  return partsOf(voice)
    .map(({ entry, service }) => `import { ${service.className} } from 'offhook/${entry}';`)
    .join('\n');
}

function construction(className: string, options: readonly string[]): string {
  return `new ${className}(${options.length === 0 ? '' : `{ ${options.join(', ')} }`})`;
}

function agentFile({ carrier, voice }: Project): string {
  const written = ({ name, code }: ServiceOption) => `${name}: ${code}`;
  const services = partsOf(voice)
    .map(
      ({ option, service }) =>
        `    ${option}: ${construction(service.className, service.options.map(written))},`,
    )
    .join('\n');
  return `// The agent, and the phone that it answers.
import { env } from 'node:process';
import { ${carrier.className}, Offhook } from 'offhook';
${importsOf(voice)}

export const greeting = 'Hello, this is the bakery.';

/** The real services. Their keys come from the environment. */
function createServices() {
  return {
    carrier: new ${carrier.className}(),
${services}
  };
}

/**
 * Starts the phone. The test passes simulated services.
 * @param {{ carrier: import('offhook').Carrier } & import('offhook').AgentOptions} [services]
 * @param {Partial<import('offhook').ServeOptions>} [options]
 */
export async function start({ carrier, ...vendors } = createServices(), options = {}) {
  const phone = new Offhook({
    carrier,
    phoneNumber: env.PHONE_NUMBER ?? '',
    webhookUrl: env.WEBHOOK_HOST,
  });
  const agent = phone.agent({
    systemPrompt: 'You answer the phone of a bakery. Be brief.',
    firstMessage: greeting,
    ...vendors,
  });
  const server = await phone.serve({
    agent,
    dashboardToken: env.DASHBOARD_TOKEN,
    requireSignature: true,
    ...options,
  });
  return { phone, server };
}
`;
}

function serverFile(project: Project): string {
  const needed = projectVariables(project)
    .map(({ name }) => `  '${name}',`)
    .join('\n');
  return `// npm start: reads .env and answers calls. Ctrl-C finishes those that are up.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { ConfigError, OffhookError } from 'offhook';
import { start } from './agent.js';

const { env } = process;
const needed = [
${needed}
];

try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const missing = needed.filter((name) => !env[name]);
  if (missing.length > 0) {
    const names = missing.join(', ');
    throw new ConfigError('CONFIG_MISSING', \`Set \${names} in .env, a copy of .env.example.\`);
  }
  const { server } = await start(undefined, { handleSignals: true });
  console.log(\`Answering calls. The dashboard is at \${server.dashboardUrl}\`);
} catch (error) {
  console.error(OffhookError.isInstance(error) ? \`\${error.code}: \${error.message}\` : error);
  process.exitCode = 1;
}
`;
}

/** What the test calls the emulated vendors. */
const EMULATED: Readonly<Record<string, string>> = {
  stt: 'recognizer',
  llm: 'model',
  tts: 'voice',
  engine: 'model',
};

function testFile({ carrier, voice }: Project): string {
  const parts = partsOf(voice);
  const names = [
    ...parts.map(({ service }) => service.emulator),
    'openToneVoice',
    carrier.simulator,
  ].toSorted();
  const account = Object.entries(carrier.account).map(([name, value]) => `${name}: '${value}'`);
  const emulators = parts.map(({ option, service }) => {
    const replies = option === 'llm' || option === 'engine' ? ['replies: [{ text: answer }]'] : [];
    const options = [...replies, ...(service.emulatorOptions === undefined ? [] : [service.emulatorOptions])];
    const given = options.length === 0 ? '' : `{ ${options.join(', ')} }`;
    return `  const ${EMULATED[option]} = await ${service.emulator}(${given});`;
  });
  const services = parts.map(({ option, service }) => {
    const address = `${EMULATED[option]}.url`;
    const options = [
      ...service.options.map(({ name, code, codeInTest = code }) => `${name}: ${codeInTest}`),
      ...(service.moreInTest === undefined ? [] : [service.moreInTest]),
      'apiKey',
      `baseUrl: ${service.path === '' ? address : `\`\${${address}}${service.path}\``}`,
    ];
    return `    ${option}: ${construction(service.className, options)},`;
  });
  const all = parts.map(({ option }) => EMULATED[option]).join(', ');
  return `// npm test: a simulated caller rings. Carrier and vendors are simulated, too: no key, no network, no money.
import assert from 'node:assert/strict';
import { env } from 'node:process';
import { test } from 'node:test';
import { ${carrier.className} } from 'offhook';
${importsOf(voice)}
import {
${names.map((name) => `  ${name},`).join('\n')}
} from 'offhook/testing';
import { greeting, start } from './agent.js';

const port = Number(env.TEST_PORT || 8123); // TEST_PORT takes another
const apiKey = 'test-key'; // the one that emulated vendors accept
const answer = 'Yes, until six.';

test('greets the caller and answers a question', async (t) => {
  env.PHONE_NUMBER = '+15005550010';
  env.WEBHOOK_HOST = 'voice.example.com';
  const account = { ${account.join(', ')} };
  const carrier = await ${carrier.simulator}({
    ...account,
    url: \`http://127.0.0.1:\${port}\`,
    webhookHost: env.WEBHOOK_HOST,
    openVoice: openToneVoice, // a voice that emulated vendors understand
  });
  t.after(() => carrier.close());
${emulators.join('\n')}
  const vendors = [${all}];
  for (const vendor of vendors) t.after(() => vendor.close());

  const services = {
    carrier: new ${carrier.className}({ ${carrier.optionsInTest} }),
${services.join('\n')}
  };
  /** @type {import('offhook').CallRecord[]} */
  const records = [];
  const { phone } = await start(services, {
    port,
    host: '127.0.0.1',
    manageWebhook: false,
    dataDir: false,
    dashboardUrl: false,
    onCallEnd: (record) => records.push(record),
  });
  t.after(() => phone.disconnect());

  const report = await carrier.call({
    script: [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Are you open?' },
      { type: 'wait-for-agent' },
    ],
  });
  await phone.disconnect(); // now the record is complete
  assert.equal(report.ok, true);
  const said = records[0]?.transcript.filter(({ role }) => role === 'agent').map(({ text }) => text);
  assert.deepEqual(said, [greeting, answer]);
  for (const vendor of vendors) assert.deepEqual(vendor.violations, []);
});
`;
}

function environmentFile(project: Project): string {
  const lines = projectVariables(project).map(({ name, source }) => `# ${source}\n${name}=\n`);
  return `# Copy this file to .env, and fill it in. Keep .env to yourself.\n\n${lines.join('\n')}`;
}

function readmeFile({ name, carrier, carrierVendor, voice }: Project): string {
  const labels = partsOf(voice).map(({ service }) => service.label);
  return `# ${name}

A phone agent on ${carrierVendor}, with ${[...new Set(labels)].join(', ')}.

\`\`\`sh
npm install
npm test                # a simulated call: no key, no phone
cp .env.example .env    # then fill in .env
npm start               # answers calls
\`\`\`

- \`agent.js\` is the agent: its prompt, its greeting, its services.
- \`agent.test.js\` calls it. Add a test for each thing that your agent must do.
- \`server.js\` starts it with the settings in \`.env\`.
- \`npx offhook doctor --settings .env\` checks the carrier's.
- ${carrier.lastStep}

The documentation is in \`node_modules/offhook/docs\`: begin with \`quick-start.md\`, then \`agents.md\` and \`tools.md\`.
`;
}
