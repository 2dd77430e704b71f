/** @module The commands of `fleet` as one table: the request of each to a controller, and the text of the answer. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileTrouble } from "../../files/file-trouble.ts";
import { type ExitCode, exitCodes, GraphformError } from "../../model/errors.ts";
import { isObject, type JsonObject, objectsIn, textIn } from "../../model/json.ts";
import { parseDuration } from "../../model/quantity.ts";
import { escapeText, jsonText } from "../../report/typeset.ts";
import { amount, timeText } from "../../report/words.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import { type ControllerClient, controllerClient } from "./controller-client.ts";
import { manifestTable, runText } from "./fleet-text.ts";
import { waitForRun } from "./wait-for-run.ts";

/** The options of all commands. */
export interface FleetOptions {
  readonly tenant?: string;
  readonly json?: boolean;
  readonly wait?: boolean;
  readonly status?: string;
  readonly limit?: string;
  readonly fingerprint?: string;
  readonly force?: boolean;
  readonly until?: string;
  readonly git?: string;
  readonly ref?: string;
  readonly path?: string;
  readonly file?: readonly string[];
  readonly interval?: number;
  readonly auto?: "safe" | "none";
}

/** The input of a command: `name` is that of a manifest, or the id of a run. */
interface Given {
  readonly client: ControllerClient;
  readonly options: FleetOptions;
  readonly terminal: Terminal;
  readonly name: string;
}

interface FleetCommand {
  ask(given: Given): Promise<JsonObject>;
  /** For a command that begins a run: the words before its id. `document` names the run, unless the caller gave it. */
  text(document: JsonObject, given: Given): string | Promise<string>;
  /** The run that was begun, if the command may wait for one. */
  begun?(document: JsonObject, given: Given): string | undefined;
  exitCode?(document: JsonObject): ExitCode;
}

const run = (document: JsonObject): string | undefined => textIn(document["run"]);

type Name =
  | "add"
  | "upload"
  | "reconcile"
  | "approve"
  | "discard"
  | "cancel"
  | "remove"
  | "pause"
  | "redrive"
  | "list"
  | "drift"
  | "locks"
  | "runs"
  | "show";

const commands: { readonly [name in Name]: FleetCommand } = {
  add: {
    async ask({ client, options, name }) {
      const { git, ref, path, file = [], interval, auto } = options;
      if ((git === undefined) === (file.length === 0))
        throw new GraphformError("fleet-source", "a manifest comes either from Git or from files", {
          hint: "name --git URL, or --file FILE (repeatable)",
        });
      const [tenant, own] = await nameOf(client, name, options);
      return client.ask("POST", "/api/v1/manifests", {
        ...{ tenant, name: own },
        source: git === undefined ? { type: "upload" } : { type: "git", url: git, ref, path },
        ...(git === undefined ? { files: await textsOf(file) } : {}),
        ...(interval === undefined ? {} : { intervalSeconds: Math.round(interval / 1000) }),
        ...(auto === undefined ? {} : { auto }),
      });
    },
    text({ manifest }) {
      const { tenant, name } = isObject(manifest) ? manifest : {};
      return `${String(tenant)}/${String(name)} was added`;
    },
    begun: run,
  },
  upload: {
    async ask({ client, options, name }) {
      const path = await pathOf(client, name, options);
      return client.ask("PUT", `${path}/files`, { files: await textsOf(options.file ?? []) });
    },
    text: (document) =>
      document["run"] === null ? "the files are the same: nothing was asked for" : "uploaded",
    begun: run,
  },
  reconcile: {
    ask: async ({ client, options, name }) =>
      client.ask("POST", `${await pathOf(client, name, options)}/runs`, {}),
    text: () => "asked for",
    begun: run,
  },
  approve: {
    ask: ({ client, options: { fingerprint = "" }, name }) =>
      client.ask("POST", runPath(name, "/approve"), { fingerprint }),
    text: () => "approved",
    begun: (_document, { name }) => name,
  },
  discard: { ask: ({ client, name }) => client.ask("POST", runPath(name, "/discard"), {}), text: resultOf },
  cancel: {
    ask: ({ client, options: { force = false }, name }) =>
      client.ask("POST", runPath(name, "/cancel"), { force }),
    text: resultOf,
  },
  remove: {
    ask: async ({ client, options, name }) => client.ask("DELETE", await pathOf(client, name, options)),
    text: () => "removed; its databases stay, and its state for a manifest of the same name\n",
  },
  pause: {
    async ask({ client, options, name }) {
      const path = await pathOf(client, name, options);
      return client.ask("POST", `${path}/pause`, { until: momentOf(options.until) });
    },
    text(_done, { options: { until } }) {
      const moment = momentOf(until);
      return moment === null ? "checked again\n" : `paused until ${timeText(moment)}\n`;
    },
  },
  redrive: {
    ask: ({ client, options }) => client.ask("POST", `/api/v1/redrive${query(options)}`, {}),
    text: ({ runs }) => `${amount(Array.isArray(runs) ? runs.length : 0, "run")} asked for\n`,
  },
  list: {
    ask: ({ client, options }) => client.pages(`/api/v1/manifests${query(options, "status")}`, "manifests"),
    text: (found, { terminal }) => manifestTable(objectsIn(found["manifests"]), terminal),
  },
  drift: {
    ask: ({ client, options }) => client.pages(`/api/v1/drift${query(options)}`, "manifests"),
    text(found, { terminal }) {
      const drifted = objectsIn(found["manifests"]);
      const oldest = textIn(found["oldestCheckAt"]);
      const since = oldest === undefined ? "" : `, the oldest check at ${timeText(oldest)}`;
      const checked = `${String(found["checked"])} of ${String(found["total"])} manifests checked`;
      const rows = drifted.length === 0 ? "" : `\n${manifestTable(drifted, terminal)}`;
      return `${checked}${since}; ${drifted.length} drifted\n${rows}`;
    },
    exitCode: (found) => (objectsIn(found["manifests"]).length === 0 ? exitCodes.done : exitCodes.changes),
  },
  locks: {
    ask: ({ client, options }) => client.ask("GET", `/api/v1/locks${query(options)}`),
    text(found, { terminal }) {
      const rows = objectsIn(found["locks"]).map(({ state, operation, who, host, since, heartbeatAt }) => [
        ...[state, operation, `${String(who)} at ${String(host)}`].map(String),
        ...[since, heartbeatAt].map((time) => timeText(String(time))),
      ]);
      return tableText(["state", "operation", "holder", "since", "renewed"], rows, terminal);
    },
  },
  runs: {
    async ask({ client, options, name }) {
      const [tenant, manifest] = name === "" ? [options.tenant] : await nameOf(client, name, options);
      const asked = query({ ...options, tenant, manifest }, "manifest", "status", "limit");
      return client.ask("GET", `/api/v1/runs${asked}`);
    },
    text(found, { terminal }) {
      const rows = objectsIn(found["runs"]).map((row) => {
        const { id, tenant, manifest, kind, status, why, createdAt, reasons } = row;
        const [first] = Array.isArray(reasons) ? reasons : [];
        const reason = (textIn(why) ?? textIn(first) ?? "").split("\n")[0];
        const name = `${String(tenant)}/${String(manifest)}`;
        return [id, name, kind, status, timeText(String(createdAt)), reason].map(String);
      });
      return tableText(["run", "manifest", "kind", "status", "begun", "reason"], rows, terminal);
    },
  },
  show: {
    ask: ({ client, name }) => client.ask("GET", runPath(name)),
    async text(details, { client, terminal, name }) {
      const hasPlan = isObject(details["run"]) && textIn(details["run"]["fingerprint"]) !== undefined;
      return runText(details, hasPlan ? await client.ask("GET", runPath(name, "/plan")) : {}, name, terminal);
    },
  },
};

/** Loads a command: asks, prints the document or its text, and waits for the run that was begun if it is told to. */
export function fleetCommand(
  command: Name,
): (invocation: Invocation<FleetOptions>, name?: string) => Promise<number> {
  const { ask, text, begun, exitCode } = commands[command];
  return async ({ options, settings, terminal }, name = "") => {
    const client = controllerClient(settings);
    const given = { client, options, terminal, name };
    const document = await ask(given);
    const id = begun?.(document, given);
    const words = options.json === true && id === undefined ? "" : await text(document, given);
    const line =
      begun === undefined ? words : `${escapeText(words)}${id === undefined ? "" : `: run ${id}`}\n`;
    if (options.wait !== true || id === undefined) {
      terminal.out(options.json === true ? `${jsonText(document)}\n` : line);
      return exitCode?.(document) ?? exitCodes.done;
    }
    const events = options.json === true ? terminal.err : terminal.out;
    events(line);
    const ended = await waitForRun(client, id, events);
    if (options.json === true) terminal.out(`${jsonText(await client.ask("GET", runPath(ended.run)))}\n`);
    return ended.code;
  };
}

function resultOf({ result }: JsonObject): string {
  return result === "requested" ? "asked for: the run ends at its next step\n" : `${String(result)}\n`;
}

/** The moment of --until; null for `now`, which ends a pause. */
function momentOf(until = ""): string | null {
  if (until === "now") return null;
  const span = parseDuration(until);
  // Date.parse takes 31 February for 3 March.
  const [day] = /^\d{4}-\d\d-\d\d/.exec(until) ?? [];
  const isDay = day === undefined || String(new Date(`${day}T00:00:00Z`).toJSON()).startsWith(day);
  const given = isDay ? Date.parse(until) : Number.NaN;
  const moment = span === undefined ? given : Date.now() + span;
  if (moment > Date.now() && moment < Date.UTC(9999, 0)) return new Date(moment).toISOString();
  const what = moment <= Date.now() ? "is not in the future" : "is no time";
  throw new GraphformError("fleet-until", `--until ${what}`, {
    hint: "write 2026-12-24T18:00:00Z, a span like 4h, or now to end the pause",
  });
}

function query(options: object, ...names: readonly string[]): string {
  const given = Object.entries(options).filter(
    ([name, value]) => ["tenant", ...names].includes(name) && value !== undefined,
  );
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

function runPath(run: string, rest = ""): string {
  return `/api/v1/runs/${encodeURIComponent(run)}${rest}`;
}

async function pathOf(client: ControllerClient, name: string, options: FleetOptions): Promise<string> {
  return `/api/v1/manifests/${(await nameOf(client, name, options)).map(encodeURIComponent).join("/")}`;
}

/** Tenant and name of `TENANT/NAME`, or of a name with --tenant; a token that sees one tenant needs neither. */
async function nameOf(
  client: ControllerClient,
  given: string,
  { tenant }: FleetOptions,
): Promise<readonly [string, string]> {
  const [first = "", second, ...more] = given.split("/");
  if (second !== undefined && more.length === 0 && (tenant === undefined || tenant === first))
    return [first, second];
  if (second === undefined && tenant !== undefined) return [tenant, first];
  const seen = second === undefined ? objectsIn((await client.ask("GET", "/api/v1/tenants"))["tenants"]) : [];
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
