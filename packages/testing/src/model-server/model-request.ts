import { isRecord } from '@svc/contract/json-value.ts';

/** A tool as the engine offered it. `namespace` is the Responses protocol's grouping. */
export type OfferedTool = { name: string; namespace?: string; kind: string };

/** One request as a scripted model sees it, the same for every protocol. */
export type ModelRequest = {
  api: 'messages' | 'responses' | 'google';
  path: string;
  model: string;
  stream: boolean;
  /** Names only: a recorded request must not contain keys. */
  headerNames: string[];
  /** Scheme of the Authorization header, the name of a key's own header, or null. */
  auth: string | null;
  /** The newest text of the user, without tool results. */
  userText: string;
  /** System prompt, developer messages included. */
  systemText: string;
  tools: OfferedTool[];
  /** The tool results in the newest message, in order. */
  toolResults: string[];
  /** The whole conversation as text, for finding text of earlier turns. */
  historyText: string;
  /** The parsed body, for anything else. */
  body: Record<string, unknown>;
};

/** The fields that are read from the request itself. */
export type ParsedRequest = Pick<
  ModelRequest,
  'model' | 'stream' | 'userText' | 'systemText' | 'tools' | 'toolResults' | 'historyText'
>;

type Block = Record<string, unknown>;

export const asBlocks = (value: unknown): Block[] => (Array.isArray(value) ? value.filter(isRecord) : []);

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Text of a content field: a plain string, or the `text` parts of its blocks. */
export const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : asBlocks(content)
        .map((block) => asText(block.text))
        .filter((text) => text !== '')
        .join('\n');

/** The tool of a script: the first offered one that matches a pattern, or the named one, offered or not. */
export function findTool(tools: readonly OfferedTool[], wanted: RegExp | string | OfferedTool): OfferedTool | undefined {
  if (wanted instanceof RegExp)
    return tools.find((tool) => wanted.test(tool.name) || wanted.test(`${tool.namespace ?? ''}__${tool.name}`));
  if (typeof wanted === 'object') return wanted;
  return tools.find((tool) => tool.name === wanted) ?? { name: wanted, kind: 'function' };
}
