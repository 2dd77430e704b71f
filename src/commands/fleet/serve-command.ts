/** @module Runs a controller, and works on its database: migrations, checks, tokens. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { packageVersion, threadProgram } from "../../project/package-files.ts";
import type { Settings } from "../../project/settings.ts";
import { jsonText } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import { check, type Finding } from "../doctor/check-store.ts";
import { printFindings } from "../doctor/doctor.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Invocation } from "../with-run.ts";

type Controller = import("../../controller/serve.ts").Controller;

/** The database of a controller, as options name it. */
export interface DatabaseOptions {
  readonly databaseUrl?: string;
  readonly embedded?: string;
  readonly json?: boolean;
}

export interface ServeOptions extends DatabaseOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly role?: string;
  readonly workers: number;
  readonly config?: string;
  readonly migrate?: boolean;
  readonly tokenFile?: string;
}

/** `serve`: runs a controller until SIGTERM or Ctrl-C; reads its configuration again at SIGHUP. Prints one JSON line when it is ready. */
export async function serve({ options, settings, terminal }: Invocation<ServeOptions>): Promise<number> {
  const { embedded, listen, workers, config, migrate = false } = options;
  const role = roleOf(options.role ?? "all", ["all", "api", "worker"]);
  const { startController } = await import("../../controller/serve.ts");
  const state = settings.get("XDG_STATE_HOME") ?? join(homedir(), ".local", "state");
  const tokenFile = options.tokenFile ?? join(embedded ?? join(state, "graphform"), "admin-token");
  const stopping = Promise.withResolvers<void>();
  const stop = (): void => stopping.resolve();
  // A signal that comes while it starts ends it as soon as it has.
  process.once("SIGTERM", stop).once("SIGINT", stop);
  const say = (line: string): void => terminal.err(`${settings.secrets.hide(line)}\n`);
  const starting = Promise.withResolvers<Pick<Controller, "reload">>();
  const reload = (): void =>
    void starting.promise
      .then((started) => started.reload())
      .catch((error: unknown) => say(`trouble: ${String(error)}`));
  process.on("SIGHUP", reload);
  const controller = await startController({
    database: embedded === undefined ? { url: databaseUrl(options, settings) } : { embedded },
    isMigrating: migrate,
    role,
    listen,
    slots: workers,
    configFile: config,
    tokenFile: resolve(tokenFile),
    version: packageVersion(),
    thread: threadProgram,
    say,
  });
  starting.resolve(controller);
  terminal.out(
    `${JSON.stringify({ url: controller.url, pid: process.pid, tokenFile: controller.tokenFile })}\n`,
  );
  const trouble = await Promise.race([stopping.promise, controller.ended]);
  say("ending: no new jobs are taken, and steps that run reach their boundary");
  // A second signal ends it as a kill does: nothing is lost.
  process.once("SIGTERM", endAtOnce).once("SIGINT", endAtOnce);
  await controller.stop();
  process.off("SIGHUP", reload);
  if (trouble !== undefined) throw trouble;
  return exitCodes.done;
}

function endAtOnce(): void {
  process.exit(exitCodes.interrupted);
}

/** `serve migrate`: brings the database to this version. */
export async function serveMigrate({
  options,
  settings,
  terminal,
}: Invocation<DatabaseOptions>): Promise<number> {
  const { assertAnswers } = await import("../../controller/database/connect.ts");
  const { prepareDatabase } = await import("../../controller/database/migrations.ts");
  const url = await urlOf(options, settings);
  await assertAnswers(url);
  const done = await prepareDatabase(url);
  terminal.out(
    options.json === true
      ? `${jsonText({ migrations: [...done] })}\n`
      : done.length === 0
        ? "the database is up to date\n"
        : `the database is up to date: ${amount(done.length, "migration")} done (${done.join(", ")})\n`,
  );
  return exitCodes.done;
}

/** `serve doctor`: what keeps a controller from working. Exit 0 or 1. */
export async function serveDoctor({
  options,
  settings,
  terminal,
}: Invocation<DatabaseOptions & { readonly config?: string }>): Promise<number> {
  const { controllerChecks } = await import("../../controller/check-controller.ts");
  const findings: Finding[] = [];
  for (const [name, look] of controllerChecks(await urlOf(options, settings), options.config)) {
    const finding = await check(name, settings.secrets.hide, look);
    findings.push(finding);
    // The checks after it ask the database.
    if (name === "database" && !finding.ok) break;
  }
  return printFindings(findings, options, terminal);
}

export interface RestoredOptions extends DatabaseOptions {
  readonly complete?: boolean;
}

/** `serve restored`: marks every manifest, since what was done after the copy is not known; or takes the marks away. */
export async function serveRestored({
  options,
  settings,
  terminal,
}: Invocation<RestoredOptions>): Promise<number> {
  const { markRestored, takeForComplete } = await import("../../controller/runs/restored.ts");
  const mark = options.complete === true ? takeForComplete : markRestored;
  return withDatabase(options, settings, async ({ database }) => {
    await database.transaction().execute(async (tx) => void (await mark(tx, "command line")));
    terminal.out(
      options.complete === true
        ? "nothing waits because of the copy\n"
        : "every manifest is checked, and every change waits for a person\n",
    );
    return exitCodes.done;
  });
}

export interface TokenOptions extends DatabaseOptions {
  readonly role?: string;
  readonly tenant?: string;
  readonly name: string;
  readonly expires?: number;
}

/** `serve token create`: prints a new token, which is shown this once. */
export async function tokenCreate({
  options,
  settings,
  terminal,
}: Invocation<TokenOptions>): Promise<number> {
  const { tenant = null, name, expires } = options;
  const role = roleOf(options.role, ["viewer", "planner", "approver", "admin"]);
  const { tenantName } = await import("../../controller/config/config.ts");
  if (tenant !== null && !tenantName.test(tenant))
    throw new GraphformError("tenant", `${JSON.stringify(tenant)} is not the name of a tenant`, {
      hint: "name one of the tenants of the configuration with --tenant",
    });
  return withDatabase(options, settings, async ({ addToken, database }) => {
    const expiresAt = expires === undefined ? {} : { expiresAt: new Date(Date.now() + expires) };
    const request = { name, role, tenant, actor: "command line", ...expiresAt };
    const made = await database.transaction().execute((tx) => addToken(tx, request));
    terminal.out(options.json === true ? `${jsonText({ ...made })}\n` : `${made.token}\n`);
    if (options.json !== true) terminal.err(`token ${made.id}: it is shown this once\n`);
    return exitCodes.done;
  });
}

/** `serve token list`: the tokens without their texts. */
export async function tokenList({
  options,
  settings,
  terminal,
}: Invocation<DatabaseOptions>): Promise<number> {
  return withDatabase(options, settings, async ({ database }) => {
    const rows = await database.selectFrom("tokens").selectAll().orderBy("created_at").execute();
    const tokens = rows.map(({ id, name, role, tenant, created_at, expires_at, revoked_at }) => ({
      ...{ id, name, role, tenant },
      createdAt: created_at.toISOString(),
      expiresAt: expires_at?.toISOString() ?? null,
      status: statusOf(revoked_at, expires_at),
    }));
    const cells = tokens.map(({ id, role, tenant, status, createdAt, name }) =>
      [id, role, tenant ?? "all", status, createdAt, name].map(String),
    );
    const text = tableText(["id", "role", "tenant", "status", "made", "name"], cells, terminal);
    terminal.out(options.json === true ? `${jsonText({ tokens })}\n` : text);
    return exitCodes.done;
  });
}

function statusOf(revoked: Date | null, expires: Date | null): "revoked" | "expired" | "valid" {
  if (revoked !== null) return "revoked";
  return expires !== null && expires < new Date() ? "expired" : "valid";
}

/** `serve token revoke`: ends a token at once. */
export async function tokenRevoke(
  { options, settings, terminal }: Invocation<DatabaseOptions>,
  id: string,
): Promise<number> {
  return withDatabase(options, settings, async ({ revokeToken, database }) => {
    const isKnown =
      /^[0-9a-f-]{36}$/i.test(id) && (await revokeToken(database, { id, actor: "command line" }));
    if (!isKnown)
      throw new GraphformError("token-unknown", "no valid token has this id", {
        hint: "`graphform serve token list` shows them",
      });
    terminal.out("revoked\n");
    return exitCodes.done;
  });
}

function roleOf<R extends string>(given: string | undefined, roles: readonly R[]): R {
  const role = roles.find((known) => known === given);
  if (role !== undefined) return role;
  throw new GraphformError("role", given === undefined ? "no role is named" : "there is no such role", {
    hint: `name one of these with --role: ${roles.join(", ")}`,
  });
}

type Tokens = typeof import("../../controller/http/tokens.ts") & {
  readonly database: import("../../controller/database/connect.ts").Database;
};

async function withDatabase<T>(
  options: DatabaseOptions,
  settings: Settings,
  work: (tokens: Tokens) => Promise<T>,
): Promise<T> {
  const [tokens, { assertAnswers, openDatabase }] = await Promise.all([
    import("../../controller/http/tokens.ts"),
    import("../../controller/database/connect.ts"),
  ]);
  const url = await urlOf(options, settings);
  await assertAnswers(url);
  const database = openDatabase(url, () => undefined);
  return work({ ...tokens, database }).finally(() => database.destroy());
}

/** Address of the database; that of an embedded one is beside its data, for the owner of the folder. */
async function urlOf(options: DatabaseOptions, settings: Settings): Promise<string> {
  if (options.embedded === undefined) return databaseUrl(options, settings);
  const file = join(options.embedded, "database-url");
  if (!existsSync(file))
    throw new GraphformError(
      "embedded-none",
      `there is no embedded database in ${options.embedded}, or it belongs to another user`,
      {
        hint: "`graphform serve --embedded DIR` makes one; it must run meanwhile",
      },
    );
  return (await readFile(file, "utf8")).trim();
}

function databaseUrl(options: DatabaseOptions, settings: Settings): string {
  const url = options.databaseUrl ?? settings.get("GRAPHFORM_CONTROLLER_DATABASE_URL");
  if (url === undefined)
    throw new GraphformError("database-none", "no database is named", {
      hint: "name --embedded DIR, or --database-url; GRAPHFORM_CONTROLLER_DATABASE_URL keeps the password off the command line",
    });
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new GraphformError("database-none", "the address of the database is not a postgres:// URL", {
      hint: "write postgres://USER:PASSWORD@HOST/DATABASE",
    });
  settings.secrets.add([URL.parse(url)?.password]);
  return url;
}
