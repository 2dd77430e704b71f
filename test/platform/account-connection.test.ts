import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Answer, at, startTest, type TestPlatform } from "./harness.ts";
import { account, aws, inAccount, params, v } from "./vendor.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ profile: "falkordb-cloud", autoBootstrap: true });
});
afterAll(() => test.close());

const subscription = "sub-enterprise-byoa";

async function made(number: string, on: TestPlatform = test): Promise<string> {
  const requestParams = {
    ...(aws["requestParams"] as JsonObject),
    aws_account_id: number,
    aws_bootstrap_role_arn: `arn:aws:iam::${number}:role/bootstrap`,
  };
  const { body } = await on.call("POST", `${account}?subscriptionId=${subscription}`, {
    ...aws,
    requestParams,
  });
  return String(body["id"]);
}

function connect(id: string, setConnection: boolean, on: TestPlatform = test): Promise<Answer> {
  const body = { serviceId: "s-local", subscriptionId: subscription, setConnection };
  return on.call("POST", `${v}/resource-instance/account-config/${id}`, body);
}

describe("the connection of a cloud account", () => {
  it("is taken away and given back; meanwhile nothing is made in the account", async () => {
    const id = await made("111111111111");
    const path = `${account}/${id}`;
    const ready = await test.until(path, "READY");
    const config = String(at(ready.body, "result_params", "cloud_provider_account_config_id"));
    const create = (): Promise<Answer> =>
      test.call("POST", inAccount, {
        cloud_provider: "aws",
        region: "us-east-1",
        requestParams: { ...params, cloud_provider_account_config_id: config },
      });
    expect((await connect(id, false)).status).toBe(202);
    await test.until(path, "DISCONNECTED");
    const refused = await create();
    expect([refused.status, refused.body["message"]]).toEqual([
      409,
      expect.stringMatching(/is disconnected/),
    ]);
    const again = await connect(id, false);
    expect([again.status, again.body["message"]]).toEqual([409, expect.stringMatching(/needs READY/)]);
    // The configuration's own id is taken as well, and holds for every instance of it.
    expect((await connect(config, true)).status).toBe(202);
    await test.until(path, "READY");
    expect((await create()).status).toBe(202);
  });

  it("holds for another instance of the same account, also for one that comes later", async () => {
    const first = await made("222222222222");
    const second = await made("222222222222");
    await test.until(`${account}/${first}`, "READY");
    await test.until(`${account}/${second}`, "READY");
    const answer = await connect(first, false);
    expect([answer.status, answer.text]).toEqual([202, ""]);
    await test.until(`${account}/${second}`, "DISCONNECTED");
    const third = await made("222222222222");
    expect((await test.call("GET", `${account}/${third}`)).body["status"]).toBe("DISCONNECTED");
  });

  it("is finished by the next start of a platform that ended meanwhile", async () => {
    const dataDir = temporaryFolder("connection");
    const options = { profile: "falkordb-cloud", autoBootstrap: true, dataDir } as const;
    const slow = await startTest({ ...options, delays: { create: 1, update: 60_000 } });
    const id = await made("333333333333", slow);
    await slow.until(`${account}/${id}`, "READY");
    await connect(id, false, slow);
    await slow.until(`${account}/${id}`, "DISCONNECTING");
    expect((await connect(id, true, slow)).status).toBe(409);
    await slow.close();
    const later = await startTest(options);
    await later.until(`${account}/${id}`, "DISCONNECTED");
    await later.close();
  });

  it("is refused to what is no account, to wrong bodies, and to another subscription", async () => {
    const id = await made("444444444444");
    await test.until(`${account}/${id}`, "READY");
    const body = { serviceId: "s-local", subscriptionId: subscription };
    for (const [of, sent, status, message] of [
      ["nothing", body, 404, /cloud account nothing not found/],
      [id, { ...body, serviceId: "s-other" }, 404, /service s-other not found/],
      [id, { serviceId: "s-local" }, 400, /subscriptionId is required/],
      [id, { ...body, setConnection: "no" }, 400, /setConnection must be true or false/],
      [id, { ...body, connect: true }, 400, /connect is not a field/],
      [id, { ...body, subscriptionId: "sub-pro", setConnection: false }, 403, /is not one to the plan/],
    ] as const) {
      const answer = await test.call("POST", `${v}/resource-instance/account-config/${of}`, sent);
      expect([answer.status, answer.body["message"]]).toEqual([status, expect.stringMatching(message)]);
    }
    const tags = [{ key: "team", value: "graph" }];
    const tagged = await test.call("POST", `${v}/resource-instance/account-config/${id}`, {
      ...body,
      customTags: tags,
    });
    expect(tagged.status).toBe(202);
    expect((await test.call("GET", `${account}/${id}`)).body).toMatchObject({
      status: "READY",
      customTags: tags,
    });
  });
});
