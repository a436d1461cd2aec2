import { existsSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { badRequest, type ConnectorState, type Exchange, type Route } from '@svc/connector-kit';
import type { Transcription } from '@svc/contract/speech.ts';
import { speakSchema, voiceConfigSchema, type SpeakRequest, type VoiceConfig } from '@svc/contract/device-gateway.ts';
import { NoRoomForBody, readBody as readWhole } from '@svc/service-kit/http/read-body.ts';
import { ByteBudget, type ByteLease } from '@svc/service-kit/intake/byte-budget.ts';
import { queueFull, ServiceError } from '@svc/service-kit/service-error.ts';
import { admit } from '../device/holder.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import type { Keeper } from '../device/remove-device.ts';
import { queryOf, type Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';

const configKey = (deviceId: string) => `voice/${deviceId}`;

/** The speech settings of devices, which are removed with them. */
export const voiceSettings = (state: ConnectorState): Keeper => ({ forget: (deviceId) => state.delete(configKey(deviceId)) });

const maxClipBytes = 25 * 1024 * 1024;
/** All clips that are being received or wait for the core, together. They are held in memory, of which the process has only so much. */
const maxHeldBytes = 2 * maxClipBytes;
/** Level, from 0 to 1, above which sound counts as speech, and the pause that ends it. */
const voiceActivity = { threshold: 0.02, silence_ms: 1200 };
const noWakeWord = { enabled: false, url: null, phrases: [] };

/**
 * Speech through the core, so that no provider's key is stored on a device: `/gw/transcribe`, `/gw/tts`, `/gw/voice-config`, `/gw/theme`.
 */
export function createSpeechRoutes(gateway: Gateway): Route[] {
  const { ctx, authenticate, readBody } = gateway;

  const clips = new ByteBudget(maxHeldBytes);

  async function transcribe(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    // Nothing is held for a stranger.
    await admit(gateway, device);
    const lease = clips.lease();
    try {
      reply(exchange, await hear(exchange, device, await readClip(exchange, lease)));
    } finally {
      lease.release();
    }
  }

  async function hear(exchange: Exchange, device: DeviceRecord, data: Buffer): Promise<Transcription> {
    const kept = await ctx.state.get<VoiceConfig>(configKey(device.device_id));
    const language = queryOf(exchange, 'language') ?? kept?.language;
    const mime = exchange.req.headers['content-type'];
    return ctx.speech.transcribe(
      {
        sender: device.identity,
        data,
        ...(mime !== undefined && { mime }),
        ...(language !== undefined && language !== '' && { language }),
      },
      ctx.signal,
    );
  }

  async function speak(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const said = await readBody<SpeakRequest>(exchange, speakSchema);
    const { res, requestId } = exchange;
    const left = new AbortController();
    res.once('close', () => left.abort());
    const sound = await ctx.speech.speak({ sender: device.identity, ...said }, AbortSignal.any([left.signal, ctx.signal]));
    res.writeHead(200, { 'content-type': sound.mime, 'cache-control': 'no-store', 'x-request-id': requestId });
    try {
      await pipeline(sound.body, res);
    } catch (error) {
      const hasLeft = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE' || left.signal.aborted;
      if (!hasLeft) throw error;
    }
  }

  async function setConfig(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    if (device.token_sha256 === null) throw new ServiceError('forbidden', 'Settings can be stored only for paired devices.');
    const config = await readBody<VoiceConfig>(exchange, voiceConfigSchema);
    await ctx.state.set(configKey(device.device_id), config);
    reply(exchange, { ok: true, config });
  }

  return [
    {
      method: 'POST',
      path: '/gw/transcribe',
      doc: { summary: 'Speech to text', needsKey: true },
      streamsBody: { maxBytes: maxClipBytes },
      handle: transcribe,
    },
    { method: 'POST', path: '/gw/tts', doc: { summary: 'Text to speech', needsKey: true, body: speakSchema }, handle: speak },
    {
      method: 'GET',
      path: '/gw/voice-config',
      doc: { summary: 'Speech settings of this device', needsKey: true, reply: voiceConfigSchema },
      async handle(exchange) {
        const { device_id: id } = authenticate(exchange);
        reply(exchange, { ok: true, config: (await ctx.state.get<VoiceConfig>(configKey(id))) ?? {} });
      },
    },
    {
      method: 'GET',
      path: '/gw/theme',
      doc: { summary: 'Colours and speech settings', needsKey: true },
      handle(exchange) {
        authenticate(exchange);
        const { theme: palette, stop_phrases, wake_model, wake_phrases: phrases } = ctx.config;
        const isThere = wake_model !== '' && existsSync(path.resolve(ctx.dataDir, wake_model));
        const wake = isThere ? { enabled: true, url: '/gw/wake/file', phrases } : noWakeWord;
        reply(exchange, { ok: true, palette, voice_activity: voiceActivity, wake, stop_phrases });
      },
    },
    {
      method: 'POST',
      path: '/gw/voice-config',
      doc: { summary: 'Sets it', needsKey: true, body: voiceConfigSchema },
      handle: setConfig,
    },
  ];
}

/** @throws ServiceError `queue_full` when too many are held already */
async function readClip({ body }: Exchange, lease: ByteLease): Promise<Buffer> {
  const clip = await readWhole(body, maxClipBytes, lease).catch((error: unknown) => {
    throw error instanceof NoRoomForBody ? queueFull('Too many recordings at once. Try again in a moment.') : error;
  });
  if (clip.length === 0) throw badRequest('Send the recording as the body.');
  return clip;
}
