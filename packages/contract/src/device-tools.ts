import { methodPattern } from './instance-call.ts';
import type { Static } from './schema.ts';

/** Name of the tool server by which an engine acts on the device of a conversation. */
export const deviceToolsName = 'svc-device';

export const maxDeviceTools = 32;
/** The limits of the JSON of all tools of a message together: characters and levels. */
export const maxDeviceToolJson = { chars: 64 * 1024, depth: 16 } as const;

/** A tool of the sender's device that the engine may use while it answers: a method of the instance's `call`. */
export const deviceToolSchema = {
  type: 'object',
  required: ['name', 'description', 'policy'],
  properties: {
    /** One of the type's `meta.calls`, unless `call` is. */
    name: { type: 'string', pattern: methodPattern },
    /** One of the type's `meta.calls` that carries out tools which are only known from the message: its params are `{ tool, params }`. */
    call: { type: 'string', pattern: methodPattern },
    /** Each use must be approved by the person of the turn. */
    asks: { type: 'boolean' },
    /** For the model: what it does and when to use it. */
    description: { type: 'string', minLength: 1, maxLength: 2000 },
    /** JSON Schema of its params, which are an object. Without it there are none. */
    input: { type: 'object' },
    /** The tool policy that a sender needs: `read` if it only reads, `full` if it acts. */
    policy: { enum: ['read', 'full'] },
    /** The tier that a sender needs; `KNOWN` unless given. */
    min_trust: { enum: ['KNOWN', 'TRUSTED', 'SACRED'] },
    /**
     * Also offered in public conversations, whose prompts may contain text from anyone: only for tools that are harmless even if
     * that text triggers them. Its params are masked like a reply there.
     */
    public: { type: 'boolean' },
  },
} as const;
export type DeviceTool = Static<typeof deviceToolSchema>;

/** Answer of `GET /v2/device-tools`: the tools that the turn of a token may use. */
export type DeviceToolList = { ok: true; tools: DeviceTool[] };
