/** @module Holds the schema of a manifest's `state` section, made from the descriptions of the stores. */
import { storeKeys, stores, storeTypes } from "../../model/stores/index.ts";
import { textKey } from "../../model/stores/store.ts";
import type { Shape } from "./shape.ts";

const places = Object.values(stores).map(({ place }) => place);
const chosen = `${places.slice(0, -1).join(", ")} or ${places.at(-1)}`;

/** The `state` section. `stateFaults` checks which keys a type has. */
export const stateShape: Shape = {
  type: "object",
  additionalProperties: false,
  properties: {
    type: textKey(`The store: ${chosen}. Left out: a file.`, { enum: storeTypes() }),
    backend: textKey("Another word for type.", { enum: storeTypes() }),
    ...Object.fromEntries(
      Object.entries(storeKeys()).map(([key, { form: _, refusal: __, ...row }]) => [key, row]),
    ),
  },
  required: [],
  description:
    "Where the state is kept. Left out: .graphform/NAME.state.json beside the manifest. Credentials come from the environment.",
};
