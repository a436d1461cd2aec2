import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { sseFrame } from '@svc/service-kit/http/sse.ts';
import { jsonInTurns } from '@svc/service-kit/json/write-steps.ts';
import type { MaskedJson, OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { RingPart } from './watch-ring.ts';

type Line = { type: string; seq: number; json: MaskedJson };

/** Frames to be sent to watchers. */
export type Parcel = { lines: readonly Line[]; sse(): Buffer };

/** Masks and serializes frames once for all watchers at the same place. */
export type Parcels = {
  of(place: number, part: RingPart): Parcel;
  /** Does the same for frames of a single watcher. */
  present(frames: readonly SessionStreamFrame[]): Promise<Parcel>;
};

export function createParcels(mask: Pick<OutboundMask, 'jsonText' | 'longJsonText'>): Parcels {
  let newest: { from: number; next: number; parcel: Parcel } | null = null;
  return {
    of(from, { frames, next }) {
      if (newest?.from === from && newest.next === next) return newest.parcel;
      // A secret may have become known since the frames were stored.
      const parcel = toParcel(frames.map(({ type, seq, json }) => ({ type, seq, json: mask.jsonText(json) })));
      newest = { from, next, parcel };
      return parcel;
    },
    async present(frames) {
      const lines: Line[] = [];
      for (const frame of frames) {
        const json = await mask.longJsonText(await jsonInTurns(frame));
        lines.push({ type: frame.type, seq: frame.seq, json });
      }
      return toParcel(lines);
    },
  };
}

function toParcel(lines: readonly Line[]): Parcel {
  let written: Buffer | null = null;
  return { lines, sse: () => (written ??= Buffer.from(lines.map(toSse).join(''))) };
}

/** Without an id, a reader keeps its last event id. */
const toSse = ({ type, seq, json }: Line): string => sseFrame(type, json, seq === 0 ? undefined : String(seq));
