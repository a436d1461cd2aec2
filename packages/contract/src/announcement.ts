export const announcementPriorities = ['normal', 'urgent'] as const;
export type AnnouncementPriority = (typeof announcementPriorities)[number];

/** How many characters of a note are kept. */
export const longestAnnouncement = 4000;

/** For a note that should stay longer, leave `ttl` out. */
const longestTtlS = 100 * 365 * 24 * 60 * 60;

/** Body of `POST /v2/announce`. */
export const announceSchema = {
  type: 'object',
  required: ['text'],
  properties: {
    text: {
      type: 'string',
      title: 'Note',
      description: 'Only the first 4,000 characters are kept.',
      minLength: 1,
      maxLength: 1_000_000,
    },
    target: { type: 'string', title: 'For', minLength: 1, maxLength: 512, default: '*' },
    priority: {
      type: 'string',
      title: 'Priority',
      description: 'Urgent notes come first.',
      enum: announcementPriorities,
      default: 'normal',
    },
    from: {
      type: 'string',
      title: 'From',
      description: 'Label of the poster. The session of this key does not get the note.',
      minLength: 1,
      maxLength: 512,
    },
    ttl: { type: 'number', title: 'Seconds until it expires', exclusiveMinimum: 0, maximum: longestTtlS },
  },
} as const;

/** Answer of `POST /v2/announce`. `no_reader`: `target` matches no session; `warning` explains that. */
export type Announced = {
  ok: true;
  id: number;
  created_at: number;
  target: string;
  truncated?: true;
  no_reader?: true;
  warning?: string;
};

/** A note to sessions (spec: Announcement). Times are epoch ms. */
export type Announcement = {
  /** Rises with every announcement and is never given twice. */
  id: number;
  /** `*`, a conversation key, `surface:<channel>` or `identity:<principal key>`. */
  target: string;
  text: string;
  priority: AnnouncementPriority;
  /** Label of the poster; empty when it gave none. */
  from_session: string;
  created_at: number;
  /** When it expires; null: never. */
  expires_at: number | null;
};
