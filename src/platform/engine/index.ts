/** @module Exports the engine to the rest of the platform. */
export { hashOf, isReserved, splitRules, tenantRules } from "./acl.ts";
export type { Database } from "./database.ts";
export type { Engine } from "./engine.ts";
export { copyWhole } from "./node-data.ts";
export { findEngine, setupEngine } from "./setup/setup-engine.ts";
export type { DatabaseNode, DatabaseSpec, RefusedUser, TlsFiles } from "./spec.ts";
export { EngineError } from "./spec.ts";
export { ensureAuthority } from "./tls.ts";
