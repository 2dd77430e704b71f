/** @module Lists every operation of the platform host: method, path, name, handler, and the ones that need no session. */
import type { Core } from "../../core.ts";
import { componentPath, maxBody, maxOpenBody, version } from "../contract.ts";
import type { Handler, Operation } from "../exchange.ts";
import { changeConnection, describeAccount } from "./accounts.ts";
import {
  changeMetadata,
  changePower,
  createResource,
  deleteResource,
  describeResource,
  failover,
  listAllInstances,
  listEvents,
  listInstances,
  restoreTime,
  updateInstance,
  upgradeVersion,
} from "./instances.ts";
import { createNetwork, deleteNetwork, listNetworks, readNetworkById, renameNetwork } from "./networks.ts";
import {
  describeParameters,
  describePlan,
  describeSubscription,
  listPlans,
  listSubscriptions,
} from "./plans.ts";
import { hasSession, requireSession } from "./router.ts";
import { describeUser, logOut, refreshSession, revokeToken, signIn, signInWithBody } from "./session.ts";
import {
  backUp,
  copyOfInstance,
  copyToRegion,
  createSnapshot,
  dropSnapshot,
  listOwnSnapshots,
  listSnapshots,
  readSnapshot,
  restoreAsInstance,
  restoreInComponent,
} from "./snapshots.ts";

export interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Method, path, name in fault rules and in the request log, and handler. */
type Row = readonly [method: string, path: string, name: string, handler: Handler];

const open: readonly Row[] = [
  ["POST", "/resource-instance/user/signin", "signin", signIn],
  ["POST", "/signin", "signin", signInWithBody],
  ["POST", "/customer-user-signin", "signin", signInWithBody],
  ["POST", "/refresh-token", "refresh", refreshSession],
  ["POST", "/logout", "logout", logOut],
  ["POST", "/revoke-token", "revoke", revokeToken],
];

const network = "/resource-instance/custom-network";
const snapshot = "/resource-instance/snapshot";

/** Rows below `version` that need a session. */
function rowsOf({ dialect, settings }: Core): readonly Row[] {
  const component = componentPath(dialect);
  const instance = `${component}/:id`;
  const rows: readonly (Row | false)[] = [
    ["GET", "/user", "user", describeUser],
    ["GET", "/service-offering", "list-plans", listPlans],
    ["GET", "/service-offering/:id", "describe-plan", describePlan],
    dialect.hasParameterSchema && [
      "GET",
      "/service-offering/:id/resource/:resource/instance/:instance",
      "describe-parameters",
      describeParameters,
    ],
    ["GET", "/subscription", "list-subscriptions", listSubscriptions],
    ["GET", "/subscription/:id", "describe-subscription", describeSubscription],
    ["GET", "/accountconfig/:id", "describe-account-config", describeAccount],
    ["POST", "/resource-instance/account-config/:id", "account-connection", changeConnection],
    ["GET", `${network}/:id`, "describe-network", readNetworkById],
    ["PATCH", `${network}/:id`, "update-network", renameNetwork],
    ...(settings.networks === "full"
      ? ([
          ["GET", network, "list-networks", listNetworks],
          ["POST", network, "create-network", createNetwork],
          ["DELETE", `${network}/:id`, "delete-network", deleteNetwork],
        ] as const)
      : []),
    dialect.snapshots.hasBackup && ["POST", `${instance}/backup`, "backup", backUp],
    ["POST", snapshot, "create-snapshot", createSnapshot],
    ["GET", snapshot, "list-snapshots", listSnapshots],
    ["GET", `${instance}/snapshot`, "list-own-snapshots", listOwnSnapshots],
    ["GET", `${snapshot}/:snapshotId`, "describe-snapshot", readSnapshot],
    ["POST", `${snapshot}/:snapshotId`, "copy-snapshot", copyToRegion],
    ["POST", `${instance}/copy-snapshot`, "copy-snapshot", copyOfInstance],
    ["POST", `${snapshot}/:snapshotId/restore`, "restore", restoreAsInstance],
    ["POST", `${component}/snapshot/:snapshotId/restore`, "restore", restoreInComponent],
    ["DELETE", `${snapshot}/:snapshotId`, "delete-snapshot", dropSnapshot],
    ["POST", `${instance}/failover`, "failover", failover],
    ["POST", `${instance}/restore`, "restore-to-time", restoreTime],
    ["POST", "/resource-instance/:id/version-upgrade", "version-upgrade", upgradeVersion],
    ["POST", component, "create", createResource],
    ["GET", component, "list", listInstances],
    ["GET", "/resource-instance", "list-all", listAllInstances],
    ["GET", instance, "describe", describeResource],
    ...dialect.updateMethods.map((method): Row => [method, instance, "update", updateInstance]),
    ["DELETE", instance, "delete", deleteResource],
    ["POST", `${instance}/start`, "start", changePower("start")],
    ["POST", `${instance}/stop`, "stop", changePower("stop")],
    ["POST", `${instance}/restart`, "restart", changePower("restart")],
    ["PATCH", `${instance}/metadata`, "metadata", changeMetadata],
    ["GET", "/resource-instance/:id/audit-events", "audit-events", listEvents],
  ];
  return rows.filter((row) => row !== false);
}

export function platformRoutes(core: Core): readonly Route[] {
  const withSession = { admit: requireSession, isSignedIn: hasSession, maxBody };
  const route = ([method, path, name, handler]: Row): Omit<Route, "maxBody"> => ({
    method,
    path: `${version}${path}`,
    name,
    handler,
  });
  return [
    ...open.map((row) => ({ ...route(row), maxBody: maxOpenBody })),
    ...rowsOf(core).map((row) => ({ ...route(row), ...withSession })),
  ];
}
