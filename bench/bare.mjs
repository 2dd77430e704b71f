import { Agent, request } from "node:http";
import process from "node:process";

/** The least that any program needs that looks at everything: it signs in, lists every tier and describes what is there. */
const [, , url = "", inFlight = "64"] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) });
const root = "/2022-09-01-00/resource-instance";
const base = `${root}/sp-default/graphdb/v1/prod`;
const places = ["hosted/enterprise/single-zone", "hosted/pro/standalone", "hosted/startup/standalone"];

await ask("POST", `${root}/user/signin`);
await Promise.all(
  places.map(async (place) => {
    const { ids } = JSON.parse(await ask("GET", `${base}/${place}`));
    await Promise.all(ids.map(async (id) => JSON.parse(await ask("GET", `${base}/${place}/${id}`))));
  }),
);
agent.destroy();

function ask(method, path) {
  return new Promise((resolve, reject) => {
    const answered = (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks).toString()));
    };
    request(url + path, { method, agent }, answered)
      .on("error", reject)
      .end();
  });
}
