/** @module The commands of `fleet`: each sends a request to a controller and prints its document. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileTrouble } from "../../files/file-trouble.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { isObject, type JsonObject, textIn } from "../../model/json.ts";
import { parseDuration } from "../../model/quantity.ts";
import { escapeText, jsonText } from "../../report/typeset.ts";
import { amount, timeText } from "../../report/words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import { type ControllerClient, controllerClient } from "./controller-client.ts";
import { waitForRun } from "./wait-for-run.ts";

export interface FleetOptions {
  readonly tenant?: string;
  readonly json?: boolean;
}

export interface WaitOptions extends FleetOptions {
  readonly wait?: boolean;
}

export interface AddOptions extends WaitOptions {
  readonly git?: string;
  readonly ref: string;
  readonly path: string;
  readonly file: readonly string[];
  readonly interval?: number;
  readonly auto?: "safe" | "none";
}

/** `fleet add`: adds a manifest from Git or from files, and asks for its first run. */
export async function fleetAdd(invocation: Invocation<AddOptions>, name: string): Promise<number> {
  const { git, ref, path, file, interval, auto } = invocation.options;
  if ((git === undefined) === (file.length === 0))
    throw new GraphformError("fleet-source", "a manifest comes either from Git or from files", {
      hint: "name --git URL, or --file FILE (repeatable)",
    });
  const client = controllerClient(invocation.settings);
  const [tenant, own] = await nameOf(client, name, invocation.options);
  const body = {
    tenant,
    name: own,
    source: git === undefined ? { type: "upload" } : { type: "git", url: git, ref, path },
    ...(git === undefined ? { files: await textsOf(file) } : {}),
    ...(interval === undefined ? {} : { intervalSeconds: Math.round(interval / 1000) }),
    ...(auto === undefined ? {} : { auto }),
  };
  return begun(
    invocation,
    client,
    await client.ask("POST", "/api/v1/manifests", body),
    `${tenant}/${own} was added`,
  );
}

/** `fleet upload`: replaces the files of a manifest. */
export async function fleetUpload(
  invocation: Invocation<WaitOptions & { readonly file: readonly string[] }>,
  name: string,
): Promise<number> {
  const client = controllerClient(invocation.settings);
  const path = await pathOf(client, name, invocation.options);
  const asked = await client.ask("PUT", `${path}/files`, { files: await textsOf(invocation.options.file) });
  return begun(
    invocation,
    client,
    asked,
    asked["run"] === null ? "the files are the same: nothing was asked for" : "uploaded",
  );
}

/** `fleet reconcile`: asks for a run now. */
export async function fleetReconcile(invocation: Invocation<WaitOptions>, name: string): Promise<number> {
  const client = controllerClient(invocation.settings);
  const path = await pathOf(client, name, invocation.options);
  return begun(invocation, client, await client.ask("POST", `${path}/runs`, {}), "asked for");
}

/** `fleet approve`: approves the plan with this fingerprint. */
export async function fleetApprove(
  invocation: Invocation<WaitOptions & { readonly fingerprint: string }>,
  run: string,
): Promise<number> {
  const client = controllerClient(invocation.settings);
  const { fingerprint } = invocation.options;
  const done = await client.ask("POST", runPath(run, "/approve"), { fingerprint });
  return begun(invocation, client, done, "approved", run);
}

/** `fleet discard` and `fleet cancel`: end a run that waits, or one that is at work. */
export async function fleetEnd(
  { options, settings, terminal }: Invocation<FleetOptions & { readonly force?: boolean }>,
  verb: "discard" | "cancel",
  run: string,
): Promise<number> {
  const body = verb === "cancel" ? { force: options.force === true } : {};
  const done = await controllerClient(settings).ask("POST", runPath(run, `/${verb}`), body);
  const text =
    done["result"] === "requested"
      ? "asked for: the run ends at its next step\n"
      : `${String(done["result"])}\n`;
  return print(terminal, options, done, text);
}

/** `fleet remove`: takes a manifest out of the fleet. */
export async function fleetRemove(
  { options, settings, terminal }: Invocation<FleetOptions>,
  name: string,
): Promise<number> {
  const client = controllerClient(settings);
  const done = await client.ask("DELETE", await pathOf(client, name, options));
  return print(terminal, options, done, "removed; its databases and its state stay\n");
}

/** `fleet pause`: stops the checks of a manifest until a time. */
export async function fleetPause(
  { options, settings, terminal }: Invocation<FleetOptions & { readonly until: string }>,
  name: string,
): Promise<number> {
  const client = controllerClient(settings);
  const span = parseDuration(options.until);
  const moment = span === undefined ? Date.parse(options.until) : Date.now() + span;
  if (options.until !== "now" && Number.isNaN(moment))
    throw new GraphformError("fleet-until", "--until is no time", {
      hint: "write 2026-12-24T18:00:00Z, a span like 4h, or now to end the pause",
    });
  const until = options.until === "now" ? null : new Date(moment).toISOString();
  const done = await client.ask("POST", `${await pathOf(client, name, options)}/pause`, { until });
  return print(
    terminal,
    options,
    done,
    until === null ? "checked again\n" : `paused until ${timeText(until)}\n`,
  );
}

/** `fleet redrive`: asks for a new run of each manifest whose last one failed. */
export async function fleetRedrive({
  options,
  settings,
  terminal,
}: Invocation<FleetOptions>): Promise<number> {
  const done = await controllerClient(settings).ask("POST", `/api/v1/redrive${query(options)}`, {});
  const { runs } = done;
  return print(
    terminal,
    options,
    done,
    `${amount(Array.isArray(runs) ? runs.length : 0, "run")} asked for\n`,
  );
}

/** Prints what was begun; with --wait its events, to its end. */
async function begun(
  { options, terminal }: Invocation<WaitOptions>,
  client: ControllerClient,
  document: JsonObject,
  what: string,
  run: string | undefined = textIn(document["run"]),
): Promise<number> {
  if (options.wait !== true || run === undefined)
    return print(
      terminal,
      options,
      document,
      `${escapeText(what)}${run === undefined ? "" : `: run ${run}`}\n`,
    );
  const events = options.json === true ? terminal.err : terminal.out;
  events(`${escapeText(what)}: run ${run}\n`);
  const ended = await waitForRun(client, run, events);
  if (options.json === true) terminal.out(`${jsonText(await client.ask("GET", runPath(ended.run)))}\n`);
  return ended.code;
}

export function print(
  terminal: Terminal,
  { json }: FleetOptions,
  document: JsonObject,
  text: string,
): number {
  terminal.out(json === true ? `${jsonText(document)}\n` : text);
  return exitCodes.done;
}

export function rowsOf(document: JsonObject, member: string): readonly JsonObject[] {
  const list = document[member];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

export function query(options: object, ...names: readonly string[]): string {
  const given = Object.entries(options).filter(
    ([name, value]) => ["tenant", ...names].includes(name) && value !== undefined,
  );
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

export function runPath(run: string, rest = ""): string {
  return `/api/v1/runs/${encodeURIComponent(run)}${rest}`;
}

async function pathOf(client: ControllerClient, name: string, options: FleetOptions): Promise<string> {
  return `/api/v1/manifests/${(await nameOf(client, name, options)).map(encodeURIComponent).join("/")}`;
}

/** Tenant and name of `TENANT/NAME`, or of a name with --tenant; a token that sees one tenant needs neither. */
export async function nameOf(
  client: ControllerClient,
  given: string,
  { tenant }: FleetOptions,
): Promise<readonly [string, string]> {
  const [first = "", second, ...more] = given.split("/");
  if (second !== undefined && more.length === 0 && (tenant === undefined || tenant === first))
    return [first, second];
  if (second === undefined && tenant !== undefined) return [tenant, first];
  const seen = second === undefined ? rowsOf(await client.ask("GET", "/api/v1/tenants"), "tenants") : [];
  const only = seen.length === 1 ? textIn(seen[0]?.["name"]) : undefined;
  if (only !== undefined) return [only, first];
  throw new GraphformError("fleet-name", `${escapeText(given)} does not say which tenant's manifest it is`, {
    hint: "write TENANT/NAME, or name --tenant",
  });
}

/** Texts of files, by their names: an upload has no folders of this machine. */
async function textsOf(files: readonly string[]): Promise<{ readonly [name: string]: string }> {
  const texts: { [name: string]: string } = {};
  for (const file of files) {
    const name = basename(file);
    if (Object.hasOwn(texts, name))
      throw new GraphformError("fleet-file", `two files are named ${name}`, {
        hint: "give them different names",
      });
    texts[name] = await readFile(file, "utf8").catch((error: unknown) => {
      throw new GraphformError("fleet-file", `cannot read ${escapeText(file)}: ${fileTrouble(error)}`);
    });
  }
  return texts;
}
