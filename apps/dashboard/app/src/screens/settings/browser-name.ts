type Known = readonly (readonly [sign: RegExp, name: string])[];

/** The first match counts: most browsers also name others, for compatibility. */
const browsers: Known = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|Chromium|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.* Safari\//, 'Safari'],
];
const systems: Known = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const nameIn = (known: Known, agent: string): string | undefined => known.find(([sign]) => sign.test(agent))?.[1];

/** The browser and system of a `User-Agent` header; null when it is none of the common browsers. */
export function browserName(agent: string): { browser: string; system: string } | null {
  const browser = nameIn(browsers, agent);
  const system = nameIn(systems, agent);
  return browser === undefined || system === undefined ? null : { browser, system };
}
