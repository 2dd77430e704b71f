import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type GitHost, openGitHost } from "./git-host.ts";

/** A comment or a note. */
export interface Comment {
  readonly id: number;
  body: string;
  readonly author: string;
}

/** An issue. */
export interface Issue {
  readonly number: number;
  title: string;
  body: string;
  state: "open" | "closed";
  readonly labels: readonly string[];
  readonly author: string;
}

/** One request that goes wrong: its connection is cut, or it gets this answer; before its work or after it. */
export interface Fault {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  readonly work: "done" | "not-done";
  readonly answer: "cut" | Answer;
}

/** The REST API of GitHub and of GitLab on loopback: as much of both as reports need, with their permissions and pages. */
export interface ForgeServer {
  readonly url: string;
  /** The repository, which is also served as git serves it, to tokens that may read it. */
  readonly git: GitHost;
  readonly comments: Comment[];
  readonly issues: Issue[];
  /** Requests that were refused. */
  readonly refused: string[];
  /** Next faults, each for one request of its method. */
  readonly faults: Fault[];
  close(): Promise<void>;
}

const bot = "bot";

/**
 * Starts a forge. The token of GitHub is made of the job's permissions, that of GitLab is `gitlab-token`. `states` is the origin of the
 * server that keeps GitLab's Terraform states.
 */
export async function startForge(states?: string): Promise<ForgeServer> {
  const refused: string[] = [];
  const store: Store = { comments: [], issues: [] };
  const faults: Fault[] = [];
  const git = openGitHost();
  const server = createServer((request, response) => {
    const at = faults.findIndex(({ method }) => method === request.method);
    const [fault] = at < 0 ? [] : faults.splice(at, 1);
    if (fault === undefined && request.url?.startsWith("/acme/graphs.git/") === true) {
      if (mayRead(request)) return void git.answer(request, response);
      refused.push(`${request.method} ${request.url}`);
      return void response.writeHead(401, { "www-authenticate": "Basic" }).end("Repository not found.");
    }
    if (states !== undefined && request.url?.includes("/terraform/state/") === true)
      return forward(request, response, states);
    const worked = fault?.work === "not-done" ? fault.answer : answer(request, store);
    void Promise.resolve(worked).then((whole) => {
      const given = fault?.answer ?? whole;
      if (given === "cut") return void request.socket.destroy();
      const { status, body, headers = {} } = given;
      if (status >= 400) refused.push(`${request.method} ${request.url}`);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    ...{ url: `http://127.0.0.1:${port}`, git, ...store, refused, faults },
    close: () =>
      new Promise((resolve) => {
        git.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(request: IncomingMessage, response: ServerResponse, origin: string): void {
  const { method, headers, url = "" } = request;
  const sent = httpRequest(new URL(url, origin), { method: method ?? "GET", headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(response);
  });
  request.pipe(sent);
}

type Store = Pick<ForgeServer, "comments" | "issues">;

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: { readonly [name: string]: string };
}

const missing: Answer = { status: 404, body: { message: "Not Found" } };

/** One request: who asks, for what, and with what. */
interface Asked {
  readonly method: string;
  readonly isGithub: boolean;
  readonly query: URLSearchParams;
  /** Last part of the path, where it is a number. */
  readonly number: number;
  readonly sent: Sent;
}

async function answer(request: IncomingMessage, store: Store): Promise<Answer> {
  const { method = "GET" } = request;
  const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://127.0.0.1");
  const sent: Sent = method === "GET" ? {} : JSON.parse((await text(request)) || "{}");
  const isGithub = pathname.startsWith("/repos/");
  const path = pathname.replace(/^\/repos\/acme\/graphs|^\/api\/v4(\/projects\/7)?/, "");
  const asked = { method, isGithub, query, sent, number: Number(/\/(\d+)$/.exec(path)?.[1]) };
  const may = isGithub ? githubRights(request) : gitlabRights(request);
  const refuse = { status: 403, body: { message: "Resource not accessible by integration" } };
  if (path === "/user") return { status: 200, body: { id: 1 } };
  if (/^\/(issues\/5\/comments|issues\/comments\/\d+|merge_requests\/5\/notes(\/\d+)?)$/.test(path))
    return may("pull-requests") ? onComments(asked, store) : refuse;
  if (/^\/issues(\/\d+)?$/.test(path)) return may("issues") ? onIssues(asked, store) : refuse;
  return missing;
}

function onComments({ method, isGithub, query, number, sent }: Asked, { comments }: Store): Answer {
  if (method === "GET") return page(comments.map(isGithub ? githubComment : gitlabNote), query);
  const { body = "" } = sent;
  if (method === "POST") {
    comments.push({ id: comments.length + 1, body, author: bot });
    return { status: 201, body: {} };
  }
  const edited = comments.find(({ id }) => id === number);
  if (edited === undefined) return missing;
  edited.body = body;
  return { status: 200, body: {} };
}

function onIssues({ method, isGithub, query, number, sent }: Asked, { issues }: Store): Answer {
  const { title = "", body = sent.description ?? "" } = sent;
  if (method === "GET") {
    const label = query.get("labels") ?? "";
    const listed = issues.filter(({ labels, state }) => state === "open" && labels.includes(label));
    return page(listed.map(isGithub ? githubIssue : gitlabIssue), query);
  }
  if (method === "POST") {
    const labels = typeof sent.labels === "string" ? [sent.labels] : (sent.labels ?? []);
    issues.push({ number: issues.length + 1, title, body, state: "open", labels, author: bot });
    return { status: 201, body: {} };
  }
  const edited = issues.find((issue) => issue.number === number);
  if (edited === undefined) return missing;
  Object.assign(edited, { title, body });
  if (sent.state === "closed" || sent.state_event === "close") edited.state = "closed";
  return { status: 200, body: {} };
}

function page(all: readonly unknown[], query: URLSearchParams): Answer {
  const [size, at] = [Number(query.get("per_page")), Number(query.get("page"))];
  return { status: 200, body: all.slice((at - 1) * size, at * size) };
}

interface Sent {
  readonly body?: string;
  readonly description?: string;
  readonly title?: string;
  readonly state?: string;
  readonly state_event?: string;
  readonly labels?: string | readonly string[];
}

/** GitHub's token of a job that may read contents, or GitLab's token of a job. */
function mayRead({ headers }: IncomingMessage): boolean {
  const login = Buffer.from(/^Basic (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "", "base64").toString();
  const [user, token = ""] = login.split(":");
  if (user === "gitlab-ci-token") return token.startsWith("glcbt-");
  return user === "x-access-token" && rightsOf(token)["contents"] !== undefined;
}

function rightsOf(token: string): { readonly [name: string]: string } {
  return JSON.parse(Buffer.from(token, "base64url").toString() || "{}");
}

function githubRights({ headers }: IncomingMessage): (right: string) => boolean {
  const [, token = ""] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
  return (right) => rightsOf(token)[right] === "write";
}

function gitlabRights({ headers }: IncomingMessage): () => boolean {
  return () => headers["private-token"] === "gitlab-token";
}

function githubComment({ id, body, author }: Comment): object {
  return author === bot
    ? { id, body, user: { type: "Bot" }, author_association: "NONE" }
    : { id, body, user: { type: "User" }, author_association: "CONTRIBUTOR" };
}

function gitlabNote({ id, body, author }: Comment): object {
  return { id, body, author: { id: author === bot ? 1 : 2 } };
}

function githubIssue({ number, body, author }: Issue): object {
  return { number, ...githubComment({ id: number, body, author }) };
}

function gitlabIssue({ number, body, author }: Issue): object {
  return { iid: number, description: body, author: { id: author === bot ? 1 : 2 } };
}
