// Tools of an MCP server in a call that goes to the next process.
import { expect, it } from 'vitest';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { mcp, type Variables } from '../../../src/index.js';
import { addEcho } from '../../engines/tools/mcp/mcp-rig.js';
import { AskingModel, QUESTION } from '../../support/asking-modes.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';
import { serveMcp } from '../../support/mcp-server.js';

it.each(SIMULATED_CARRIERS)(
  'tools of an MCP server work in a call that another process takes up, with its variables, on %s',
  { timeout: 120_000 },
  async (id) => {
    await using server = await serveMcp({ equip: addEcho });
    await using deploy = await Deploy.on(id);
    const serve = async () => {
      const llm = new AskingModel();
      const served = await deploy.serve({}, (phone) => {
        const headers = ({ variables }: { variables: Variables }) => ({
          'X-Customer': `${variables.customer}`,
        });
        const tools = [mcp({ url: server.url, name: 'shop', headers })];
        const shop = phone.agent({ name: 'shop', firstMessage: 'Hello.', idle: false, llm, tools });
        return { agent: () => ({ agent: shop, variables: { customer: 17 } }), fallbackAgent: shop };
      });
      return { ...served, llm };
    };
    const old = await serve();
    deploy.proxy.switchTo(old.port);
    const isMoved = new AbortController();
    const calling = deploy.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: QUESTION },
        { type: 'wait-until', signal: isMoved.signal, timeoutMs: 50_000 },
        { type: 'say', text: QUESTION },
        { type: 'pause', durationMs: 10_000 },
        { type: 'hang-up' },
      ],
    });
    const isAnswered = (fact: CallEvent) =>
      fact.type === 'turn.completed' && fact.turn.agentText.includes('That is what I know.');
    await eventually('the first answer', () => old.facts.find(isAnswered));
    const next = await serve();
    await deploy.moved(old, next);
    isMoved.abort();
    await calling;
    const record = await eventually('the end', () => next.ended[0]);
    expect(record).toMatchObject({ agent: 'shop', term: 2, endReason: 'caller-hangup', error: null });
    expect([old.llm.results, next.llm.results]).toEqual([['You said 17'], ['You said 17']]);
    const called = server.requests.filter(({ rpc }) => rpc === 'tools/call');
    expect(called.map(({ headers }) => headers['x-customer'])).toEqual(['17', '17']);
    // Each process had a session of its own for the call, and none is left: it is closed beside the end of the call.
    await expect.poll(() => server.servers.size).toBe(0);
  },
);
