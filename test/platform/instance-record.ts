import type { InstanceRecord } from "../../src/platform/model/records.ts";

/** The record of an instance that runs on one node, with these values of its own. */
export function instanceRecord(over: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    id: "instance-1",
    isAccount: false,
    tier: "pro",
    component: "standalone",
    resourceId: "r-pro-standalone",
    cloudProvider: "aws",
    region: "us-east-1",
    networkType: "PUBLIC",
    params: {},
    status: "RUNNING",
    createdAt: "2026-01-01T00:00:00.000Z",
    lastModified: "2026-01-01T00:00:00.000Z",
    power: "running",
    nodes: [{ id: "node-s-0", port: 20_000, role: "primary" }],
    users: [],
    deletionProtection: false,
    customTags: [],
    ...over,
  };
}
