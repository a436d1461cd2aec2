import { badRequest, type Exchange, type Route } from '@svc/connector-kit';
import {
  beginUploadSchema,
  finishUploadSchema,
  type BeginUploadRequest,
  type FinishUploadRequest,
} from '@svc/contract/device-gateway.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import { admit } from '../device/holder.ts';
import { ownKey, queryOf, type Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import type { OwnFiles } from './own-files.ts';

/** More than any chunk; the core has its own limit, and reports it. */
const maxChunkBytes = 256 * 1024 * 1024;
const digest = /^[0-9a-fA-F]{64}$/;

/**
 * `/gw/uploads`: a large file in chunks, for unreliable connections. An upload belongs to its device's conversation; the core stores the
 * received chunks, so that it continues after any restart.
 */
export function createChunkRoutes(gateway: Gateway, files: OwnFiles): Route[] {
  const { authenticate, readBody, ctx } = gateway;
  const { chunked } = ctx.uploads;
  const placeOf = (device: DeviceRecord, exchange: Exchange) => ({
    upload_id: exchange.params['id'] ?? '',
    conversation_key: ownKey(gateway, device),
  });

  /** Nothing is stored for a stranger. */
  async function writer(exchange: Exchange): Promise<DeviceRecord> {
    const device = authenticate(exchange);
    await admit(gateway, device);
    return device;
  }

  async function begin(exchange: Exchange): Promise<void> {
    const device = await writer(exchange);
    const {
      filename,
      mime = 'application/octet-stream',
      ...file
    } = await readBody<BeginUploadRequest>(exchange, beginUploadSchema);
    const state = await chunked.begin({ name: filename, mime, ...file, conversation_key: ownKey(gateway, device) });
    reply(exchange, { ...state, ok: true });
  }

  async function look(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    reply(exchange, { ...(await chunked.state(placeOf(device, exchange))), ok: true });
  }

  async function put(exchange: Exchange): Promise<void> {
    const device = await writer(exchange);
    const index = Number(queryOf(exchange, 'index') || Number.NaN);
    if (!Number.isInteger(index) || index < 0 || index > 999_999_999)
      throw badRequest('The index of the chunk is required: PUT /gw/uploads/ID?index=0');
    const sha256 = exchange.req.headers['x-chunk-sha256'];
    if (sha256 !== undefined && (typeof sha256 !== 'string' || !digest.test(sha256)))
      throw badRequest('X-Chunk-Sha256 must have 64 hexadecimal digits.');
    const landed = await chunked.put({ ...placeOf(device, exchange), index, sha256 }, exchange.body);
    reply(exchange, { ...landed, ok: true });
  }

  async function finish(exchange: Exchange): Promise<void> {
    const device = await writer(exchange);
    const { sha256 } = await readBody<FinishUploadRequest>(exchange, finishUploadSchema);
    const file = await chunked.finish({ ...placeOf(device, exchange), sha256 });
    await files.add(device.device_id, file);
    reply(exchange, { ok: true, file });
  }

  async function discard(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    await chunked.discard(placeOf(device, exchange));
    reply(exchange, { ok: true });
  }

  const path = '/gw/uploads/:id';
  return [
    {
      method: 'POST',
      path: '/gw/uploads',
      doc: { summary: 'Begins an upload in chunks', needsKey: true, body: beginUploadSchema },
      handle: begin,
    },
    { method: 'GET', path, doc: { summary: 'The chunks that have arrived', needsKey: true }, handle: look },
    {
      method: 'PUT',
      path,
      doc: { summary: 'Stores the body as a chunk: ?index=0', needsKey: true },
      streamsBody: { maxBytes: maxChunkBytes },
      handle: put,
    },
    {
      method: 'POST',
      path,
      doc: { summary: 'Completes an upload after all chunks have arrived', needsKey: true, body: finishUploadSchema },
      handle: finish,
    },
    { method: 'DELETE', path, doc: { summary: 'Cancels an upload', needsKey: true }, handle: discard },
  ];
}
