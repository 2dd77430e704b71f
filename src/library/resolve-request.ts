/** @module Resolves a manifest with its state and service, for `plan` and `apply`. */
import { secretReader } from "../manifest/read-secret.ts";
import type { Manifest } from "../model/manifest.ts";
import type { Vault } from "../model/sealed.ts";
import type { ServiceIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { resolveProject, type VaultKey } from "../project/project.ts";
import { learnSecrets, withOwner } from "../project/session.ts";
import type { Goal } from "../reconcile/plan-for.ts";
import { claimState } from "../state/claim-state.ts";
import { projects, services } from "./handles.ts";
import type { PlanRequest } from "./plan-request.ts";

/** A resolved manifest, and the state claimed for the service. */
export interface ResolvedRequest {
  readonly manifest: Manifest;
  readonly vault: Vault;
  readonly state: StateDocument;
  readonly identity: ServiceIdentity;
  readonly goal: Goal;
}

/** Resolves a request. Throws `ManifestError`, `state-service`, `no-subscription`. */
export async function resolveRequest(
  request: PlanRequest,
  stored: StateDocument,
  key: VaultKey,
  signal: AbortSignal,
): Promise<ResolvedRequest> {
  const project = projects.get(request.manifest);
  const { settings, location, connection } = services.get(request.service);
  const { manifest, vault } = await resolveProject(
    project,
    key,
    secretReader(settings.environment(), undefined, signal),
  );
  learnSecrets(project, vault, settings);
  const { where } = request.state;
  const { destroying = false } = request;
  const { state, identity } = await withOwner(
    claimState(stored, { service: location.identity, manifest: project.identity, where }),
    destroying ? [] : manifest.desired,
    { location, service: connection, project: { identity: project.identity, store: request.state } },
    signal,
  );
  const { targets = [], exclude = [], replace = [], allowDestroy = [], maxDisruption } = request;
  const options = { targets, exclude, replace, allowDestroy, ...(maxDisruption && { maxDisruption }) };
  return {
    manifest,
    vault,
    state,
    identity,
    goal: {
      manifest,
      options,
      timestamp: project.timestamp,
      destroying,
      probing: request.probe !== false,
    },
  };
}
