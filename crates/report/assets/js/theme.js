// Colours. Categories: Okabe and Ito's palette, which the colour-blind can tell apart. Scales:
// viridis (van der Walt and Smith), running away from the colour of the page.

const CATEGORIES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b37d00", "#56b4e9", "#000000", "#8a8a8a"],
  dark: ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#ffffff", "#8a8a8a"],
};
const VIRIDIS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const INKS = {
  light: { page: "#ffffff", text: "#16191d", quiet: "#596270", edge: "#d5dae1", idle: "#c3c9d1" },
  dark: { page: "#14171b", text: "#e8ebef", quiet: "#9ba5b3", edge: "#343b45", idle: "#454d58" },
};
const FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

const theme = {
  choice: "system",
  listeners: [],
  // Whether the page is being printed: paper is white.
  onPaper: false,
  get name() {
    if (this.onPaper) return "light";
    if (this.choice !== "system") return this.choice;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  },
  get ink() { return INKS[this.name]; },
  category(index) {
    const list = CATEGORIES[this.name];
    return list[index % list.length];
  },
  // The colour of a share from 0 to 1 of the greatest value.
  scale(share) {
    // The end that is too close to the page's colour is left out.
    const along = Math.min(Math.max(share, 0), 1) * 0.85;
    const place = (this.name === "light" ? 0.85 - along : 0.15 + along) * (VIRIDIS.length - 1);
    const below = Math.floor(place);
    const above = Math.min(below + 1, VIRIDIS.length - 1);
    const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
    const mixed = [1, 3, 5].map((at) => {
      const [from, to] = [part(VIRIDIS[below], at), part(VIRIDIS[above], at)];
      return Math.round(from + (to - from) * (place - below));
    });
    return `rgb(${mixed.join(",")})`;
  },
  apply() {
    document.documentElement.dataset.theme = this.name;
    const words = { system: "as the system", light: "light", dark: "dark" };
    document.getElementById("theme").textContent = `Theme: ${words[this.choice]}`;
    for (const listener of this.listeners) listener();
  },
};
document.getElementById("theme").addEventListener("click", () => {
  const choices = ["system", "light", "dark"];
  theme.choice = choices[(choices.indexOf(theme.choice) + 1) % choices.length];
  theme.apply();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme.apply());

