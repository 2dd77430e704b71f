import { execFile, spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/controller/sources/checkout-folder.ts";
import { checkOut, newestCommit, type Sourced, uploadDigest } from "../../../src/controller/sources/git.ts";
import { isGraphformError } from "../../../src/model/errors.ts";
import { manifestIdentity } from "../../../src/project/locate-state.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { makeRepository, type Repository } from "./repositories.ts";

const text = "apiVersion: graphform/v1\nname: shop\n";
const never = new AbortController().signal;
const program = fileURLToPath(new URL("../support/git-process.ts", import.meta.url));

let temporary = "";
let repository: Repository;
beforeEach(() => {
  temporary = temporaryFolder("checkouts");
  repository = makeRepository();
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  expect(readdirSync(temporary), "what is left of checkouts").toEqual([]);
});

interface Asked {
  readonly url?: string;
  readonly ref?: string;
  readonly path?: string;
}

function manifest({ url = repository.url, ref = "main", path = "" }: Asked = {}): Sourced {
  return { tenant: "shop", source: { type: "git", url, ref, path }, upload: null, commit: null };
}

function allowing(...allow: readonly string[]): Parameters<typeof checkOut>[2] {
  return { git: { allow: allow.length === 0 ? [`${repository.url}`] : allow, credentials: [] } };
}

/** Names and texts of the files of a checkout, which is removed. */
async function filesOf(asked: Asked, commit?: string): Promise<{ readonly [name: string]: string }> {
  const config = allowing(asked.url ?? repository.url);
  const at = manifest(asked);
  const out = await checkOut(at, commit ?? (await newestCommit(at, config, never)), config, never);
  expect(lstatSync(out.folder).mode & 0o777).toBe(0o700);
  const files = out.files.map((file) => [basename(file), readFileSync(file, "utf8")] as const);
  const written = readdirSync(out.folder, { recursive: true, withFileTypes: true });
  expect(written.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort()).toEqual(
    files.map(([name]) => name),
  );
  // The mark of a state: the paths that the command line finds in a working copy.
  const folder = (asked.path ?? "").replace(/\/?[^/]*\.yaml$/, "").replace(/^(?:\.?\/)+|\/$/g, "");
  expect(manifestIdentity({}, out.files)).toEqual({ paths: files.map(([name]) => join(folder, name)) });
  expect(readdirSync(join(out.folder, ".."))).toEqual(["files"]);
  await out.remove();
  return Object.fromEntries(files);
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    (value) => `nothing was refused: ${JSON.stringify(value)}`,
    (error: unknown) =>
      isGraphformError(error) ? `${error.code}: ${error.message}` : `not ours: ${String(error)}`,
  );
}

describe("a repository is read", () => {
  it("at exactly one commit, the newest or an older one, and only the YAML files of the folder", async () => {
    repository.write("shop/b.yaml", "b: 1\n");
    repository.write("shop/a.yaml", "a: 1\n");
    repository.write("shop/note.txt", "text");
    repository.write("shop/nested/c.yaml", "c: 1\n");
    repository.write("other.yaml", "other: 1\n");
    const first = repository.commit();
    repository.write("shop/a.yaml", "a: 2\n");
    const second = repository.commit();
    expect(await newestCommit(manifest(), allowing(), never)).toBe(second);
    expect(await filesOf({ path: "shop" })).toEqual({ "a.yaml": "a: 2\n", "b.yaml": "b: 1\n" });
    expect(await filesOf({ path: "shop/" }, first)).toEqual({ "a.yaml": "a: 1\n", "b.yaml": "b: 1\n" });
    expect(await filesOf({ path: "shop/a.yaml" })).toEqual({ "a.yaml": "a: 2\n" });
    expect(await filesOf({ path: "." })).toEqual({ "other.yaml": "other: 1\n" });
  });

  it("at a branch, a tag with a message, a tag without one, a whole name and a commit", async () => {
    repository.write("a.yaml", text);
    const first = repository.commit();
    repository.git("tag", "light");
    repository.git("tag", "--annotate", "--message", "m", "heavy");
    repository.git("branch", "feature/one");
    const second = repository.commit();
    repository.git("tag", "main", first);
    const newest = (ref: string): Promise<string> => newestCommit(manifest({ ref }), allowing(), never);
    expect(await newest("light")).toBe(first);
    expect(await newest("heavy")).toBe(first);
    expect(await newest("feature/one")).toBe(first);
    expect(await newest("refs/heads/main")).toBe(second);
    expect(await newest("main"), "a branch wins over a tag").toBe(second);
    expect(await newest("HEAD")).toBe(second);
    expect(await newest(first)).toBe(first);
    expect(await refusalOf(newest("one"))).toMatch(/^source-gone: .*no branch and no tag "one"/);
  });

  it("through links that stay in the folder", async () => {
    repository.write("m/base/a.yaml", text);
    repository.link("m/a.yaml", "base/a.yaml");
    repository.link("m/b.yaml", "a.yaml");
    repository.link("m/folder", "base");
    repository.commit();
    expect(await filesOf({ path: "m" })).toEqual({ "a.yaml": text, "b.yaml": text });
  });

  it.each([
    ["the folder is missing", { path: "nowhere" }, /^source-empty: the commit has no folder/],
    ["the folder holds no manifest", { path: "docs" }, /^source-empty: the manifest's folder contains no/],
  ])("not if %s", async (_, asked, expected) => {
    repository.write("docs/readme.md", "text");
    repository.commit();
    expect(await refusalOf(filesOf(asked))).toMatch(expected);
  });

  it("until its signal says stop, and leaves no process", async () => {
    const hanging = await listen(() => undefined);
    const stopping = new AbortController();
    hanging.server.once("request", () => stopping.abort(new Error("stop now")));
    const config = allowing(`${hanging.url}/*`);
    await expect(
      newestCommit(manifest({ url: `${hanging.url}/a.git` }), config, stopping.signal),
    ).rejects.toThrow("stop now");
    expect(await processesWith(hanging.url)).toEqual([]);
    hanging.close();
  });

  it("within its time", async () => {
    const hanging = await listen(() => undefined);
    const before = limits.ms;
    Reflect.set(limits, "ms", 500);
    const config = allowing(`${hanging.url}/*`);
    const said = await refusalOf(newestCommit(manifest({ url: `${hanging.url}/a.git` }), config, never));
    Reflect.set(limits, "ms", before);
    expect(said).toMatch(/^source-unreachable: the repository did not answer within/);
    expect(await processesWith(hanging.url)).toEqual([]);
    hanging.close();
  });

  it("after folders that killed processes have left a day ago are removed, and no younger one", async () => {
    const [old, young] = [
      join(temporary, "graphform-checkout-old"),
      join(temporary, "graphform-checkout-young"),
    ];
    for (const folder of [old, young]) mkdirSync(join(folder, "files"), { recursive: true });
    utimesSync(old, new Date(0), new Date(0));
    repository.write("a.yaml", text);
    repository.commit();
    await filesOf({});
    expect(readdirSync(temporary)).toEqual(["graphform-checkout-young"]);
    utimesSync(young, new Date(0), new Date(0));
    await filesOf({});
  });

  it("and its files stay as long as they are used, whatever the clock says", async () => {
    repository.write("a.yaml", text);
    repository.commit();
    const at = manifest();
    const out = await checkOut(at, await newestCommit(at, allowing(), never), allowing(), never);
    utimesSync(dirname(out.folder), new Date(0), new Date(0));
    await filesOf({});
    expect(readFileSync(out.files[0] ?? "", "utf8")).toBe(text);
    await out.remove();
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("not without git, which is said", async () => {
    vi.stubEnv("PATH", "/nothing");
    expect(await refusalOf(newestCommit(manifest(), allowing(), never))).toMatch(/^git-missing: /);
  });

  it("by processes that end with their worker, however that ends, and its half checkouts go at the next one", async () => {
    const hanging = await listen(() => undefined);
    const child = spawn(process.execPath, [program, `${hanging.url}/a.git`], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["ignore", "inherit", "inherit"],
    });
    await new Promise((asked) => hanging.server.once("request", asked));
    expect((await processesWith(`${hanging.url}/a.git`)).length).toBeGreaterThan(1);
    expect(readdirSync(temporary)).toHaveLength(1);
    repository.write("a.yaml", text);
    repository.commit();
    await filesOf({});
    expect(readdirSync(temporary), "the folder of a process that lives").toHaveLength(1);
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await gone;
    await expect.poll(() => processesWith(hanging.url)).toEqual([]);
    await filesOf({});
    hanging.close();
  });
});

/** Command lines of processes that contain a text, without those of this test. */
async function processesWith(word: string): Promise<readonly string[]> {
  const lines = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
  return lines.filter((line) => line.includes(word));
}

interface Listening {
  readonly server: Server;
  readonly url: string;
  close(): void;
}

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe("over HTTP", () => {
  const token = "token-of-the-shop";
  let execPath = "";
  beforeAll(async () => {
    execPath = (await promisify(execFile)("git", ["--exec-path"])).stdout.trim();
  });
  const asked: { readonly authorization: string | undefined; readonly shown: readonly string[] }[] = [];
  let served: Listening;
  beforeEach(async () => {
    asked.length = 0;
    served = await listen((request, response) => {
      void processesWith(token).then((shown) => {
        asked.push({ authorization: request.headers.authorization, shown });
        serveGit(repository.folder, execPath, request, response);
      });
    });
    repository.write("a.yaml", text);
    repository.commit();
  });
  afterEach(() => served.close());

  const credential = (url: string, more: { readonly tenants?: readonly string[] } = {}) => ({
    url,
    username: "git",
    token: { env: "SHOP_GIT" },
    ...more,
  });

  it("sends the token in a header that no argument shows, and reads the commit", async () => {
    vi.stubEnv("SHOP_GIT", token);
    const config = {
      git: {
        allow: [`${served.url}/*`],
        credentials: [
          credential("https://elsewhere.example.com/*"),
          credential(`${served.url}/*`, { tenants: ["another"] }),
          credential(`${served.url}/*`, { tenants: ["shop"] }),
        ],
      },
    };
    const at = manifest({ url: `${served.url}/repository/.git` });
    const out = await checkOut(at, await newestCommit(at, config, never), config, never);
    expect(readFileSync(out.files[0] ?? "", "utf8")).toBe(text);
    await out.remove();
    const basic = `Basic ${Buffer.from(`git:${token}`).toString("base64")}`;
    expect(new Set(asked.map(({ authorization }) => authorization))).toEqual(new Set([basic]));
    expect(asked.flatMap(({ shown }) => shown)).toEqual([]);
  });

  it.each([
    ["of another tenant", { tenants: ["another"] }, "/*"],
    ["for another path", {}, "/private/*"],
  ])("sends no token %s", async (_, more, path) => {
    vi.stubEnv("SHOP_GIT", token);
    const config = {
      git: { allow: [`${served.url}/*`], credentials: [credential(`${served.url}${path}`, more)] },
    };
    await newestCommit(manifest({ url: `${served.url}/repository/.git` }), config, never);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  /** A server that answers with words of its own, in which the token stands that it got. */
  it.each([
    ["an error of the remote side", (line: string) => `ERR bad token ${line}`],
    ["an answer that git quotes", (line: string) => `no ref but '${line}`],
    ["an answer that git repeats", (line: string) => `version 2 object-format=${line}`],
  ])("repeats nothing of the token that %s has", async (_, wordsOf) => {
    vi.stubEnv("SHOP_GIT", token);
    const sent: string[] = [];
    const repeating = await listen(({ headers: { authorization = "" } }, response) => {
      const basic = authorization.replace("Basic ", "");
      const login = Buffer.from(basic, "base64").toString("utf8");
      sent.push(basic, login, encodeURIComponent(login));
      const words = `${wordsOf(sent.join(" "))}\n`;
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" });
      const line = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;
      response.end(`${line("# service=git-upload-pack\n")}0000${line(words)}0000`);
    });
    const config = {
      git: { allow: [`${repeating.url}/*`], credentials: [credential(`${repeating.url}/*`)] },
    };
    const said = await refusalOf(newestCommit(manifest({ url: `${repeating.url}/a` }), config, never));
    repeating.close();
    expect(sent).toContain(`git:${token}`);
    expect(said).toMatch(/^source-unreachable: git says: /);
    for (const secret of [token, ...sent]) expect(said).not.toContain(secret);
  });

  it("names the address that a server refuses, and its answer", async () => {
    const refusing = await listen((_, response) => void response.writeHead(403).end());
    const url = `${refusing.url}/a`;
    const said = await refusalOf(newestCommit(manifest({ url }), allowing(`${refusing.url}/*`), never));
    refusing.close();
    expect(said).toContain(`git says: fatal: unable to access ${url}: The requested URL returned error: 403`);
  });

  it("follows no redirect to another host, and sends nothing there", async () => {
    vi.stubEnv("SHOP_GIT", token);
    const redirecting = await listen((request, response) => {
      response.writeHead(302, { location: `${served.url}${request.url ?? ""}` }).end();
    });
    const config = {
      git: { allow: [`${redirecting.url}/*`], credentials: [credential(`${redirecting.url}/*`)] },
    };
    const said = await refusalOf(
      newestCommit(manifest({ url: `${redirecting.url}/repository/.git` }), config, never),
    );
    redirecting.close();
    expect(said).toMatch(/^source-unreachable: /);
    expect(said).not.toContain(token);
    expect(asked).toEqual([]);
  });

  it("asks no host in a private network that only a pattern of any host allows", async () => {
    const said = await refusalOf(
      newestCommit(manifest({ url: `${served.url}/repository/.git` }), allowing("http://*/*"), never),
    );
    expect(said).toMatch(/^source-refused: .*private network|does not list/);
    expect(asked).toEqual([]);
  });
});

/** Serves a repository by git's own program. */
function serveGit(
  folder: string,
  execPath: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://any");
  const child = spawn(join(execPath, "git-http-backend"), {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname.replace(/^\/repository/, ""),
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf("\r\n\r\n");
    const headers = whole
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(": ") as [string, string]);
    const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== "Status")));
    response.end(whole.subarray(end + 4));
  });
}

describe("an upload", () => {
  const upload = (files: { readonly [name: string]: string } | null, commit = "d"): Sourced => ({
    tenant: "shop",
    source: { type: "upload" },
    upload: files,
    commit,
  });
  const refusalOfFiles = (files: { readonly [name: string]: string }): Promise<string> =>
    refusalOf(checkOut(upload(files), "d", allowing(), never));

  it("is written with the names of its files, in their order, for its own digest", async () => {
    const files = { "b.yaml": "b: 1\n", "a.yaml": text };
    const digest = uploadDigest(files);
    expect(uploadDigest({ "a.yaml": text, "b.yaml": "b: 1\n" })).toBe(digest);
    expect(uploadDigest({ "a.yaml": text, "b.yaml": "b: 2\n" })).not.toBe(digest);
    expect(await newestCommit(upload(files, digest), allowing(), never)).toBe(digest);
    const out = await checkOut(upload(files, digest), digest, allowing(), never);
    expect(out.files.map((file) => basename(file))).toEqual(["a.yaml", "b.yaml"]);
    expect(readFileSync(out.files[0] ?? "", "utf8")).toBe(text);
    await out.remove();
    expect(existsSync(out.folder)).toBe(false);
  });

  it("whose files were deleted is gone", async () => {
    expect(await refusalOf(checkOut(upload(null), "old", allowing(), never))).toMatch(/^source-gone/);
  });

  it.each([
    "../a.yaml",
    "/etc/cron.d/a.yaml",
    "a/../../b.yaml",
    "folder/a.yaml",
    ".hidden.yaml",
    "a.yaml\0",
    "a\nb.yaml",
    "-o.yaml",
    "a.sh",
    ".git/config",
    "con\\..\\a.yaml",
    `${"a".repeat(300)}.yaml`,
  ])("may not have a file %j", async (name) => {
    expect(await refusalOfFiles({ [name]: text })).toMatch(
      /^source-refused.* is no name of a manifest's file/s,
    );
  });

  it("may not be larger than the limits, nor empty", async () => {
    const large = { "a.yaml": "x".repeat(limits.fileBytes + 1) };
    expect(await refusalOfFiles(large)).toMatch(/^source-refused.*a.yaml is larger than 10 MB/s);
    const many = Object.fromEntries(Array.from({ length: limits.files + 1 }, (_, at) => [`f${at}.yaml`, ""]));
    expect(await refusalOfFiles(many)).toContain("more than 1000 files");
    expect(await refusalOfFiles({})).toMatch(/^source-empty/);
  });
});
