// Tests on a PostgreSQL that they start and stop.
import { afterAll, beforeAll } from 'vitest';
import { describeNeeding } from './needing.js';
import { PostgresCluster } from './postgres-cluster.js';

/** `describeNeeding` PostgreSQL. `body` gets what has the cluster once a test or its preparation runs. */
export function describeOnPostgres(name: string, body: (cluster: () => PostgresCluster) => void): void {
  describeNeeding(['initdb', 'postgres'], name, (initdb = '', postgres = '') => {
    let cluster: PostgresCluster | undefined;
    beforeAll(async () => {
      cluster = await PostgresCluster.start({ initdb, postgres });
    }, 60_000);
    afterAll(() => cluster?.close());
    body(() => {
      if (cluster === undefined) throw new Error('PostgreSQL is not started yet');
      return cluster;
    });
  });
}
