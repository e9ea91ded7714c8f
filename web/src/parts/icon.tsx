/** Inline SVG paths, 16 by 16: no icon font to load. */
const PATHS = {
  overview: 'M2.500 9.500h3v4h-3zM6.500 5.500h3v8h-3zM10.500 2.500h3v11h-3z',
  jobs: 'M2.500 3.500h11M2.500 8h11M2.500 12.500h7',
  batches:
    'M2.500 2.500h4.300v4.300H2.500zM9.200 2.500h4.300v4.300H9.200zM2.500 9.200h4.300v4.300H2.500zM9.200 9.200h4.300v4.300H9.200z',
  schedules: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.800V8l2.300 1.600',
  workers: 'M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01',
  definitions: 'M5.500 4 2 8l3.500 4M10.500 4 14 8l-3.500 4',
  deployments: 'M2.500 5 8 2.500 13.500 5v6L8 13.500 2.500 11zM2.500 5 8 7.500 13.500 5M8 7.500v6',
  docs: 'M3 2.500h7l3 3v8H3zM10 2.500v3h3M5.500 8.500h5M5.500 11h5',
  keyboard: 'M1.500 4.500h13v7h-13zM4 7h.01M6.700 7h.01M9.300 7h.01M12 7h.01M5 9.500h6',
  system: 'M2 3h12v8H2zM6 13.500h4M8 11v2.500',
  light:
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.900M11.700 11.700l.9.900M3.400 12.600l.9-.9M11.700 4.300l.9-.9',
  dark: 'M13.500 9.700A5.800 5.800 0 0 1 6.300 2.500 5.800 5.800 0 1 0 13.500 9.700z',
  copy: 'M5.500 5.500h8v8h-8zM3 10.500h-.5v-8h8V3',
  check: 'M3 8.500 6.500 12 13 4.500',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.800V8l2.300 1.600',
  play: 'M5 3.500v9l7.500-4.500z',
  resume: 'M4 3.500v9M7 3.500v9l6.500-4.500z',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.300 10.300l3.200 3.200',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  retry: 'M13 8a5 5 0 1 1-1.500-3.500M13 2.500v3h-3',
  stop: 'M4.500 4.500h7v7h-7z',
  hold: 'M4 8h8',
  leave: 'M6.500 2.500h-4v11h4M10 5l3 3-3 3M13 8H6',
  dots: 'M4 8h.01M8 8h.01M12 8h.01',
  letters: 'M2 4h12v8.500H2zM2 4.500l6 4.500 6-4.500',
  bulk: 'M2.500 2.500h8v8h-8zM5.500 13.500h8v-8',
  webhooks: 'M2.500 8h8M7.500 4.500 11 8l-3.500 3.500M13.500 3v10',
  audit: 'M3 2.500h10v11H3zM5.500 6l1 1 2-2M5.500 10.500h5M10 6h.5',
  settings: 'M2.500 5h6M12 5h1.500M10 3.500v3M2.500 11H4M7.500 11h6M6 9.500v3',
  usage: 'M3.500 12.500a6 6 0 1 1 9 0M8 9.500l2.800-3.800M8 9.500h.01',
  bell: 'M4 11.500h8l-1-1.500V7a3 3 0 0 0-6 0v3zM7 13.500h2',
  next: 'M6 3.500 10.500 8 6 12.500',
  alert: 'M8 2.500 14.500 13.500h-13zM8 6.500v3.300M8 11.700h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** Always beside a label, so it is hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
