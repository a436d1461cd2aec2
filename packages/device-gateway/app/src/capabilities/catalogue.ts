/** What a browser can do for the assistant; what a device describes of itself. Harmless ones are allowed at pairing, others by the owner. */
export type Capability = {
  name: string;
  /** For the model: what it does. */
  description: string;
  /** For the person, in the settings. */
  label: string;
  input?: object;
  policy: 'read' | 'full';
  dangerous?: boolean;
  isThere(): boolean;
  /** @throws Error that says why it cannot be done. */
  run(params: Readonly<Record<string, unknown>>): Promise<unknown>;
};

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const text = (value: unknown, name: string): string => {
  if (typeof value !== 'string' || value === '') throw new Error(`"${name}" must be a string.`);
  return value;
};

let lock: WakeLockSentinel | null = null;

export const catalogue: readonly Capability[] = [
  {
    name: 'geolocation',
    label: 'Share the location of this device',
    description: 'The location of the device: latitude, longitude, accuracy in metres.',
    policy: 'read',
    isThere: () => 'geolocation' in navigator,
    run: async () => {
      const { coords, timestamp } = await new Promise<GeolocationPosition>((resolve, reject) => {
        navigator.geolocation.getCurrentPosition(resolve, ({ message }) => reject(new Error(message)), { timeout: 20_000 });
      });
      return { latitude: coords.latitude, longitude: coords.longitude, accuracy_m: coords.accuracy, at: timestamp };
    },
  },
  {
    name: 'clipboard_read',
    label: 'Read the clipboard',
    description: 'The text in the clipboard of the device. Works only while its app is in the foreground.',
    policy: 'read',
    dangerous: true,
    isThere: () => navigator.clipboard?.readText !== undefined,
    run: async () => ({ text: (await navigator.clipboard.readText()).slice(0, 100_000) }),
  },
  {
    name: 'clipboard_write',
    label: 'Write to the clipboard',
    description: 'Copies a text to the clipboard of the device. Works only while its app is in the foreground.',
    input: object({ text: { type: 'string', maxLength: 100_000 } }, ['text']),
    policy: 'full',
    isThere: () => navigator.clipboard?.writeText !== undefined,
    run: async (params) => {
      await navigator.clipboard.writeText(text(params['text'], 'text'));
      return {};
    },
  },
  {
    name: 'vibrate',
    label: 'Vibrate',
    description: 'Vibrates the device, by default for 300 ms.',
    input: object({ ms: { type: 'integer', minimum: 1, maximum: 5000 } }),
    policy: 'full',
    isThere: () => 'vibrate' in navigator,
    run: async ({ ms }) => ({ done: navigator.vibrate(Math.min(typeof ms === 'number' ? ms : 300, 5000)) }),
  },
  {
    name: 'wake_lock',
    label: 'Keep the screen on',
    description: 'Keeps the screen of the device on, or lets it turn off again. Works only while its app is in the foreground.',
    input: object({ on: { type: 'boolean' } }, ['on']),
    policy: 'full',
    isThere: () => 'wakeLock' in navigator,
    run: async ({ on }) => {
      await lock?.release();
      lock = on === true ? await navigator.wakeLock.request('screen') : null;
      return { on: lock !== null };
    },
  },
  {
    name: 'notify',
    label: 'Show notifications',
    description: 'Shows a notification on the device.',
    input: object({ title: { type: 'string', maxLength: 200 }, text: { type: 'string', maxLength: 1000 } }, ['text']),
    policy: 'full',
    isThere: () => 'Notification' in globalThis && 'serviceWorker' in navigator,
    run: async ({ title, text: body }) => {
      if (Notification.permission !== 'granted')
        throw new Error('The user has not allowed notifications in the settings of the app.');
      const worker = await navigator.serviceWorker.ready;
      await worker.showNotification(typeof title === 'string' ? title : 'Assistant', {
        body: text(body, 'text'),
        icon: '/icon-192.png',
      });
      return {};
    },
  },
  {
    name: 'open_url',
    label: 'Open web pages',
    description: 'Opens a web page (http or https) on the device. The browser may refuse while no one is using the app.',
    input: object({ url: { type: 'string', maxLength: 2000 } }, ['url']),
    policy: 'full',
    dangerous: true,
    isThere: () => true,
    run: async ({ url }) => {
      const target = URL.parse(text(url, 'url'));
      if (target === null || !/^https?:$/.test(target.protocol)) throw new Error('This is not an http or https address.');
      const opened = open(target.href, '_blank', 'noreferrer') !== undefined;
      return { opened };
    },
  },
];
