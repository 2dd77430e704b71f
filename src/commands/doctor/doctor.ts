/** @module Checks everything that the other commands need, and says how to fix what is missing. */
import process from "node:process";
import type { Client } from "../../hosting/service-options.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError, isServiceError } from "../../model/errors.ts";
import { withinLimit } from "../../model/time-limit.ts";
import { connect, credentialSource } from "../../project/connect-service.ts";
import { locateService, type ServiceLocation } from "../../project/locate-service.ts";
import { checkedManifest, openProject, type Project } from "../../project/project.ts";
import { escapeText, jsonText, makePalette } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import { claimState } from "../../state/claim-state.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type Invocation, serviceTarget } from "../with-run.ts";
import { check, clockFinding, type Finding, stateFindings } from "./check-store.ts";

/** Longest wait for one answer of the service, in ms. */
const answerTimeout = 20_000;

/** `doctor`: prints each check with its result, and the way to fix each failure. Exit 0 or 1. */
export async function doctor(invocation: Invocation): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { hide } = settings.secrets;
  let project: Project | undefined;
  const manifest = await check("manifest", hide, async () => {
    project = await openProject(options, settings);
    const { desired } = await checkedManifest(project);
    return `${project.files.join(", ")} is valid, ${amount(desired.length, "resource")}`;
  });
  const findings = [
    // The launcher has refused one that is too old.
    { check: "node", ok: true, detail: process.versions.node },
    manifest,
    ...(project === undefined ? [] : await stateFindings(project, settings)),
    ...(await service(invocation, project)),
    await check("local engine", hide, () => engine(project)),
  ];
  return printFindings(findings, options, terminal);
}

/** Prints findings, each with its remedy, or as JSON. Returns the exit code: 0 if all is well. */
export function printFindings(
  findings: readonly Finding[],
  options: { readonly json?: boolean },
  terminal: Terminal,
): number {
  const { green, red } = makePalette(terminal.colour);
  if (options.json === true) terminal.out(`${jsonText(findings.map((finding) => ({ ...finding })))}\n`);
  else {
    for (const { check: name, ok, detail, hint } of findings) {
      terminal.out(`${ok ? green("ok    ") : red("failed")}  ${name}: ${escapeText(detail, 600)}\n`);
      if (hint !== undefined) terminal.out(`        ${escapeText(hint, 600)}\n`);
    }
  }
  return findings.every((finding) => finding.ok) ? exitCodes.done : exitCodes.error;
}

/** Checks the platform host with a sign-in, then the users host. */
async function service(invocation: Invocation, project: Project | undefined): Promise<readonly Finding[]> {
  const { options, settings } = invocation;
  const { hide } = settings.secrets;
  let connection: Client | undefined;
  let location: ServiceLocation | undefined;
  const connected = await check("service", hide, async () => {
    const target = await serviceTarget(invocation);
    location = await locateService(target, options, settings);
    connection = await connect(location, options, settings, () => {});
    const { signIn } = connection;
    const late = (): Error => new Error(`no answer within ${answerTimeout / 1000} s`);
    await withinLimit({ clock: systemClock, patience: answerTimeout }, signIn, late);
    return `${target.profile.name} profile; signed in`;
  });
  const [open, place] = [connection, location];
  if (place === undefined) return [connected];
  const caFile = settings.get("GRAPHFORM_CA_FILE") ?? place.local?.caFile;
  const before = [
    connected,
    await check("service credentials", hide, () => credentialSource(settings, place)),
    ...(await clockFinding("service clock", place.platformUrl, caFile)),
  ];
  try {
    if (open === undefined || !connected.ok) return before;
    const signal = AbortSignal.timeout(answerTimeout);
    const plans = await check("service plans", hide, async () => {
      if (!open.offers("plans.list")) return "not offered by the profile";
      await open.read({ operation: "plans.list", params: {} }, signal);
      return "listed";
    });
    const offer = await check("offered today", hide, () => offered(open, project, signal));
    const users = await check("users host", hide, () => usersHost(open, place, project, signal));
    return [...before, plans, offer, users];
  } finally {
    await open?.close();
  }
}

async function offered(open: Client, project: Project | undefined, signal: AbortSignal): Promise<string> {
  const { canCheckOffer, checkOffer } = await import("../../kinds/offered-parameters.ts");
  if (!canCheckOffer(open)) return "not checked: the profile has no operation for it";
  if (project === undefined) return "not checked: there is no valid manifest";
  const { desired } = await checkedManifest(project);
  const { findings, notCompared } = await checkOffer(desired, open, signal);
  const [first] = findings;
  if (first === undefined)
    return notCompared.length === 0 ? "everything that the manifest declares" : notCompared.join("; ");
  const more = findings.length === 1 ? "" : ` (and ${findings.length - 1} more)`;
  throw new GraphformError("not-offered-today", `${first.desired.address}: ${first.message}${more}`, {
    hint: findings.length === 1 ? first.hint : "graphform validate --online shows all of them",
  });
}

/** Checks the users host by listing the users of one instance: it serves no other resource. */
async function usersHost(
  open: Client,
  { identity: service }: ServiceLocation,
  project: Project | undefined,
  signal: AbortSignal,
): Promise<string> {
  const stored = await project?.store.read().catch(() => undefined);
  // This service cannot list the users of another service's instance.
  const bound =
    stored &&
    project &&
    claimState(stored, { service, manifest: project.identity, where: project.store.where });
  const host = Object.values(bound?.resources ?? {}).find(({ kind }) => kind === "instances");
  if (!open.offers("user.list")) return "not offered by the profile";
  if (host === undefined) return "not checked: the state has no instance to list users of";
  try {
    await open.read({ operation: "user.list", params: { instanceId: host.id } }, signal);
    return "answers";
  } catch (error) {
    // A refusal of the request itself is an answer: no subscription is looked up here.
    if (!isServiceError(error, "invalid")) throw error;
    return `answers; it refused to list the users of ${host.id}: ${error.message}`;
  }
}

/** Checks the database engine. Only the local platform needs one, and a manifest without a service section uses it. */
async function engine(project: Project | undefined): Promise<string> {
  const { findEngine } = await import("../../platform/engine/setup/setup-engine.ts");
  const found = await findEngine();
  if (found.engine !== undefined) return `${found.engine.name} ${found.engine.version}: ${found.engine.why}`;
  if (project?.header.service !== undefined) return `none found, and none is needed: ${found.reason}`;
  throw new GraphformError("no-engine", found.reason, {
    hint: `${found.hint ?? "leave GRAPHFORM_ENGINE out"} (only \`graphform platform\` needs one)`,
  });
}
