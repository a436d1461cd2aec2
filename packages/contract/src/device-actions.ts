import { maxDeviceTools } from './device-tools.ts';
import { methodPattern } from './instance-call.ts';
import type { Static } from './schema.ts';

/** What devices can be asked to do: their capabilities, and calls. */

/** A capability that a device declares. */
export const capabilitySchema = {
  type: 'object',
  required: ['name', 'description', 'policy'],
  properties: {
    name: { type: 'string', pattern: methodPattern },
    /** For the model: what it does and when to use it. */
    description: { type: 'string', minLength: 1, maxLength: 500 },
    /** JSON Schema of its params, an object's; at most 4,096 characters of JSON. */
    input: { type: 'object' },
    /** The tool policy that its use requires: `read` if it only reads, `full` if it acts. */
    policy: { enum: ['read', 'full'] },
    /** True: the person is asked before each use by an engine. */
    dangerous: { type: 'boolean' },
  },
} as const;
export type Capability = Static<typeof capabilitySchema>;
export const capabilitiesSchema = { type: 'array', maxItems: maxDeviceTools, items: capabilitySchema } as const;
export const maxCapabilityInput = 4096;

/** The longest time a device may take, ms. */
export const maxRpcMs = 60_000;
export const maxRpcParams = 64 * 1024;

/** Body of `POST /gw/rpc`. */
export const rpcSchema = {
  type: 'object',
  required: ['device_id', 'method'],
  properties: {
    device_id: { type: 'string', minLength: 1, maxLength: 128 },
    method: { type: 'string', pattern: methodPattern },
    params: { type: 'object' },
    timeout_ms: { type: 'integer', minimum: 1, maximum: maxRpcMs },
    /** False: the request is answered as soon as it was sent to the device. */
    wait: { type: 'boolean' },
  },
} as const;
export type RpcRequest = Static<typeof rpcSchema>;

/** Body of `POST /gw/rpc-result`: the result of a `device_rpc` frame. */
export const rpcResultSchema = {
  type: 'object',
  required: ['rpc_id', 'ok'],
  properties: {
    rpc_id: { type: 'string', minLength: 1, maxLength: 64 },
    ok: { type: 'boolean' },
    result: {},
    error: { type: 'string', maxLength: 2000 },
  },
} as const;
export type RpcResult = Static<typeof rpcResultSchema>;

/** A frame of the control link that asks the device to act. `expires_at`: epoch ms. */
export type DeviceRpcFrame = {
  type: 'device_rpc';
  rpc_id: string;
  method: string;
  params: Record<string, unknown>;
  expires_at: number;
};

/** A device that can be asked to act, in the answer of `GET /gw/devices`. `allowed`: by the owner. */
export type ActuableDevice = {
  device_id: string;
  name: string;
  reachable: boolean;
  capabilities: (Capability & { allowed: boolean })[];
};
