import type { SendRequest } from '@svc/contract/send.ts';

type Options = { instance?: boolean; file?: string; kind?: string };

/** A command line as the manager's `/send` takes it. Beside a file the text is its caption. */
export function toSendRequest(channel: string, target: string, text: string, { instance, file, kind }: Options): SendRequest {
  const words = text === '' ? {} : file === undefined ? { text } : { caption: text };
  return {
    ...(instance === true ? { instance_id: channel } : { channel }),
    target,
    ...words,
    ...(file === undefined ? {} : { path: file }),
    ...(kind === undefined ? {} : { kind }),
  };
}
