/** How one thing is set up, as it may be shown. Secrets are no part of this. */
export interface SettingView {
  /** Of the environment variable. */
  name: string;
  value: string | number | null;
  meaning: string;
}

export interface SettingsView {
  version: string;
  settings: SettingView[];
}
