import { isObject } from "../../base/json.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { Offer } from "./offer.ts";

type Hide = Secrets["withoutKnown"];

/**
 * Hides known secrets in the texts of an offer: everybody reads them, and so does the index. An entry that is called by a
 * secret, such as a resource with a token in its address, is left out: it could not be called by another name.
 */
export function hideInOffer(offer: Offer, hide: Hide): Offer {
  const { tools, prompts, resources, resourceTemplates, serverInfo, instructions, leftOut } = offer;
  return {
    ...offer,
    serverInfo: hideDeep(serverInfo, hide),
    instructions: hideDeep(instructions, hide),
    tools: hideEntries(tools, "name", hide),
    prompts: hideEntries(prompts, "name", hide),
    resources: hideEntries(resources, "uri", hide),
    resourceTemplates: hideEntries(resourceTemplates, "uriTemplate", hide),
    ...(leftOut === undefined ? {} : { leftOut: hideDeep(leftOut, hide) }),
  };
}

function hideEntries<T>(entries: readonly T[], key: string, hide: Hide): T[] {
  return entries
    .filter((entry) => {
      const name = String((entry as Record<string, unknown>)[key]);
      return hide(name) === name;
    })
    .map((entry) => hideDeep(entry, hide));
}

/** Returns the same value if it holds no secret. */
function hideDeep<T>(value: T, hide: Hide): T {
  if (typeof value === "string") return hide(value) as T;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => hideDeep(item, hide));
    return items.every((item, index) => item === value[index]) ? value : (items as T);
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value);
  const hidden = members.map(([key, item]) => [hide(key), hideDeep(item, hide)] as const);
  const isSame = hidden.every(([key, item], index) => key === members[index]?.[0] && item === members[index][1]);
  return isSame ? value : (Object.fromEntries(hidden) as T);
}
