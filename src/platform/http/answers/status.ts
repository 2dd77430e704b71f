/** @module Summarizes the platform for its page and for scripts. */
import type { JsonObject } from "../../../model/json.ts";
import type { Core } from "../../core.ts";

/** Status of the platform, without parameters and secrets. */
export function platformStatus(core: Core): JsonObject {
  const { name, version, why } = core.databases.engine;
  return {
    engine: { name, version, why },
    dataDir: core.settings.dataDir,
    pid: process.pid,
    instances: core.store.instances.list().map((record) => {
      const primary = record.nodes.find((node) => node.role === "primary");
      const shownName = record.params["name"];
      return {
        id: record.id,
        name: typeof shownName === "string" ? shownName : "",
        status: record.status,
        operation: record.operation?.name ?? "",
        tier: record.tier,
        component: record.component,
        cloudProvider: record.cloudProvider,
        region: record.region,
        endpoint: record.host === undefined || primary === undefined ? "" : `${record.host}:${primary.port}`,
        nodes: record.nodes.map(({ id, port, role, isDown = false }) => ({ id, port, role, isDown })),
        createdAt: record.createdAt,
        lastModified: record.lastModified,
        failure: record.failure?.reason ?? "",
      };
    }),
    snapshots: core.store.snapshots.list().length,
    networks: core.store.networks.list().length,
    storage: core.trouble.report(),
    events: core.events
      .recent()
      .slice(0, 100)
      .map((event) => ({ ...event })),
  };
}
