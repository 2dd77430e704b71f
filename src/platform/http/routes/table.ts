/** @module Lists every operation of the platform host, and the ones that need no session. */
import type { Core } from "../../core.ts";
import { maxBody, maxOpenBody, version } from "../contract.ts";
import type { Operation, Row } from "../exchange.ts";
import { accountRows } from "./accounts.ts";
import { instanceRows } from "./instances.ts";
import { networkRows } from "./networks.ts";
import { planRows } from "./plans.ts";
import { hasSession, requireSession } from "./router.ts";
import { describeUser, openRows } from "./session.ts";
import { snapshotRows } from "./snapshots.ts";

export interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

export function platformRoutes(core: Core): readonly Route[] {
  const withSession = { admit: requireSession, isSignedIn: hasSession, maxBody };
  const route = ([method, path, name, handler]: Row): Omit<Route, "maxBody"> => ({
    ...{ method, name, handler },
    path: `${version}${path}`,
  });
  const rows: readonly Row[] = [
    ["GET", "/user", "user", describeUser],
    ...[
      ...planRows(core),
      ...accountRows,
      ...networkRows(core),
      ...snapshotRows(core),
      ...instanceRows(core),
    ],
  ];
  return [
    ...openRows.map((row) => ({ ...route(row), maxBody: maxOpenBody })),
    ...rows.map((row) => ({ ...route(row), ...withSession })),
  ];
}
