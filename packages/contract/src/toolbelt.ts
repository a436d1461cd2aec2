/** The tools of `svc-toolbelt` (spec: Tool registry). The toolbelt's process lists them, the core checks and runs them. */

const since = { type: 'number', minimum: 0, description: 'Epoch ms. Default: 24 hours ago.' } as const;
const path = (description: string) => ({ type: 'string', minLength: 1, maxLength: 1024, description }) as const;
const nothingElse = { additionalProperties: false } as const;

export const toolInputs = {
  svc_sessions: { type: 'object', properties: {}, ...nothingElse },
  svc_map: { type: 'object', properties: { since }, ...nothingElse },
  svc_who: {
    type: 'object',
    required: ['path'],
    properties: {
      path: path('A file or folder; a relative one is taken from your working folder.'),
      since,
    },
    ...nothingElse,
  },
  svc_send: {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 1, maxLength: 32_000, description: 'What to say.' },
      channel: {
        type: 'string',
        minLength: 1,
        maxLength: 64,
        description: 'Connector type such as "messenger", when it has one instance. Otherwise use instance_id.',
      },
      instance_id: { type: 'string', minLength: 1, maxLength: 128, description: 'The connector instance to send through.' },
      target: {
        type: 'string',
        minLength: 1,
        maxLength: 512,
        description: 'Chat, channel or user on it. Leave all three out to send to this conversation.',
      },
      path: path('A file of the shared upload area.'),
      caption: { type: 'string', maxLength: 4000, description: 'Said with the file.' },
      kind: {
        type: 'string',
        minLength: 1,
        maxLength: 64,
        description:
          'How the channel takes it; leave it out for a plain message. A device takes "speak" (reads it aloud) and "inject" (says it in the conversation there, which is answered).',
      },
    },
    ...nothingElse,
  },
  svc_reply_file: {
    type: 'object',
    required: ['path'],
    properties: {
      path: path('A file in your working folder, or one that came with a message; a relative path is taken from the folder.'),
      name: { type: 'string', minLength: 1, maxLength: 255, description: 'What the person sees. Default: its own name.' },
    },
    ...nothingElse,
  },
  svc_react: {
    type: 'object',
    required: ['emoji'],
    properties: { emoji: { type: 'string', minLength: 1, maxLength: 64, description: 'One emoji, such as 👍.' } },
    ...nothingElse,
  },
  svc_announce: {
    type: 'object',
    required: ['text'],
    properties: {
      text: { type: 'string', minLength: 1, maxLength: 4000, description: 'What the sessions should know.' },
      target: {
        type: 'string',
        minLength: 1,
        maxLength: 512,
        description: '"*" for all, a conversation key, surface:<channel> or identity:<principal key>.',
      },
      priority: { enum: ['normal', 'urgent'] },
      ttl: { type: 'number', exclusiveMinimum: 0, maximum: 31_536_000, description: 'Seconds until it expires.' },
    },
    ...nothingElse,
  },
  svc_uploads: {
    type: 'object',
    properties: { limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Default: 20.' } },
    ...nothingElse,
  },
} as const;

export type ToolName = keyof typeof toolInputs;
export const toolNames = Object.keys(toolInputs) as ToolName[];

/** `forReaders`: it changes something, and callers that may only read may use it all the same. */
type Description = { title: string; description: string; readOnly: boolean; forReaders?: boolean };

export const toolDescriptions: Record<ToolName, Description> = {
  svc_sessions: {
    title: 'Active sessions',
    description:
      'Lists the assistant sessions that are active now, over all channels and terminals: who, where, what about, what state.',
    readOnly: true,
  },
  svc_map: {
    title: 'Where sessions work',
    description: 'Groups active sessions by the git repository or folder they work in. "shared" flags one with several sessions.',
    readOnly: true,
  },
  svc_who: {
    title: 'Who touched a path',
    description: 'Lists the sessions that recently touched a file, or anything in a folder, with their tools.',
    readOnly: true,
  },
  svc_send: {
    title: 'Send a message',
    description:
      'Sends a text, or a file with a caption, out through a connector. It is kept and tried again until it is delivered.',
    readOnly: false,
  },
  svc_reply_file: {
    title: 'Give a file with the reply',
    description: 'Gives a file of this conversation to the person with your reply. Only where the channel shows files.',
    readOnly: false,
  },
  svc_react: {
    title: 'React with an emoji',
    description: 'Puts an emoji on the message that you are answering. Only where the channel shows reactions.',
    readOnly: false,
    forReaders: true,
  },
  svc_announce: {
    title: 'Announce to sessions',
    description: 'Posts a note that other sessions read at the beginning of their next turn.',
    readOnly: false,
  },
  svc_uploads: {
    title: 'Recent uploads',
    description: 'Lists the newest files of the shared upload area, with their paths.',
    readOnly: true,
  },
};

/** Answer of `POST /v2/toolbelt/:tool`; anything else is an error body. */
export type ToolAnswer = { ok: true; result: unknown };
