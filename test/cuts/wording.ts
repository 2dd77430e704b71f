import type { OutgoingHttpHeaders } from "node:http";
import { builtIn } from "../../src/hosting/profile/built-in.generated.js";
import type { Profile } from "../../src/model/service.ts";

/** Tells the local platform in its own words what was said in another profile's, and back. */
export interface Wording {
  path(path: string): string;
  request(text: string): string;
  answer(text: string): string;
  headers(headers: OutgoingHttpHeaders): OutgoingHttpHeaders;
}

/** The words of falkordb-cloud for a platform that has those of the default profile. */
export function cloudWords(): Wording {
  const [ours, theirs] = [profileOf("default"), profileOf("falkordb-cloud")];
  const start = ({ keys }: Profile): string => `/${keys["provider"]}/${keys["service"]}/v1/prod/`;
  const places = placesOf(theirs).map(([name, path]): [string, string] => {
    const own = placesOf(ours).find(([each]) => each === name)?.[1] ?? path;
    return [`${start(theirs)}${path}`, `${start(ours)}${own}`];
  });
  return {
    path(path) {
      const found = places.find(([from]) => path.includes(from));
      return found === undefined ? path.replace(start(theirs), start(ours)) : path.replace(...found);
    },
    request: (text) => text.replace(/"falkor(db|DB)(?=[A-Z])/g, '"graph$1'),
    answer: (text) => text.replace(/"graph(db|DB)(?=[A-Z])/g, '"falkor$1'),
    headers({ "set-cookie": cookies, ...headers }) {
      const [from, to] = [ours.session, theirs.session];
      const said = [cookies ?? []]
        .flat()
        .map((cookie) =>
          String(cookie)
            .replace(`${from.refreshCookie}=`, `${to.refreshCookie}=`)
            .replace(`${from.tokenCookie}=`, `${to.tokenCookie}=`),
        );
      return said.length === 0 ? headers : { ...headers, "set-cookie": said };
    },
  };
}

/** Where the instances of each tier and component are: the keys of their paths. */
function placesOf({ tiers }: Profile): readonly (readonly [string, string])[] {
  return Object.entries(tiers).flatMap(([tier, { serviceModelKey, productTierKey, components }]) =>
    Object.entries(components).map(
      ([component, key]) => [`${tier} ${component}`, `${serviceModelKey}/${productTierKey}/${key}`] as const,
    ),
  );
}

function profileOf(name: string): Profile {
  const profile = builtIn[name]?.();
  if (profile === undefined) throw new Error(`there is no built-in profile ${name}`);
  return profile;
}
