// Where messages of other nodes come in. Anybody can send something there: what is refused by its head has its connection ended, and its body is not read.
import { ClusterError } from '../../base/errors.js';
import { readBody } from '../../base/request-body.js';
import { type Coordinator, NODE_PROOF_HEADER } from '../../cluster/coordinator.js';
import type { Route } from '../../server/routes.js';

/** `receiver`: undefined before the node is open. */
export function createNodeRoute(receiver: () => Pick<Coordinator, 'receive'> | undefined): Route {
  return async (request, response) => {
    const { [NODE_PROOF_HEADER]: proof } = request.headers;
    const answer = await receiver()?.receive?.({
      proof: typeof proof === 'string' ? proof : '',
      read: (maxBytes) => readBody(request, response, maxBytes),
    });
    if (answer === undefined) throw new ClusterError('This node takes no messages.');
    const { status, body } = answer;
    const type = { 'Content-Type': 'application/octet-stream' };
    return { status, headers: status === 200 ? type : { ...type, Connection: 'close' }, body };
  };
}
