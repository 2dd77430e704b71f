import { Agent, type IncomingMessage, request } from "node:http";
import process from "node:process";

/** The least that any program needs that looks at everything: it signs in, lists every tier and describes what is there. */
const [, , url = "", inFlight = "64"] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });
const root = "/2022-09-01-00/resource-instance";
const base = `${root}/sp-default/graphdb/v1/prod`;
const places = ["hosted/enterprise/single-zone", "hosted/pro/standalone", "hosted/startup/standalone"];

await ask("POST", `${root}/user/signin`);
for (const place of places) {
  const { ids }: { ids: readonly string[] } = JSON.parse(await ask("GET", `${base}/${place}`));
  await Promise.all(ids.map(async (id) => JSON.parse(await ask("GET", `${base}/${place}/${id}`))));
}
agent.destroy();

function ask(method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks).toString()));
    };
    request(url + path, { method, agent }, answered)
      .on("error", reject)
      .end();
  });
}
