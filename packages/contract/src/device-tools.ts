import { methodPattern } from './instance-call.ts';
import type { Static } from './schema.ts';

/** Name of the tool server by which an engine acts on the device that a conversation is with. */
export const deviceToolsName = 'svc-device';

export const maxDeviceTools = 32;
/** Of all tools of a message together: JSON of at most so many characters, and so many levels. */
export const maxDeviceToolJson = { chars: 64 * 1024, depth: 16 } as const;

/** Something that the sender's device can do for the engine while it answers: a method of the instance's `call`. */
export const deviceToolSchema = {
  type: 'object',
  required: ['name', 'description', 'policy'],
  properties: {
    /** One of the type's `meta.calls`, unless `call` is. */
    name: { type: 'string', pattern: methodPattern },
    /** One of the type's `meta.calls` that does it for tools that are known only when a message comes: its params are `{ tool, params }`. */
    call: { type: 'string', pattern: methodPattern },
    /** Each use is asked about: the person of the turn says yes, or it is not done. */
    asks: { type: 'boolean' },
    /** For the model: what it does, and when to use it. */
    description: { type: 'string', minLength: 1, maxLength: 2000 },
    /** JSON Schema of its params, an object's; none unless given. */
    input: { type: 'object' },
    /** The tool policy that a sender needs: `read` for what only looks, `full` for what acts. */
    policy: { enum: ['read', 'full'] },
    /** The tier that a sender needs; `KNOWN` unless given. */
    min_trust: { enum: ['KNOWN', 'TRUSTED', 'SACRED'] },
    /**
     * Also in public conversations, where anybody's words may be in the prompt: only for what is harmless if they had it used. Its params are
     * masked as a reply there is.
     */
    public: { type: 'boolean' },
  },
} as const;
export type DeviceTool = Static<typeof deviceToolSchema>;

/** Answer of `GET /v2/device-tools`: what the turn of a token may use. */
export type DeviceToolList = { ok: true; tools: DeviceTool[] };
