// Numbers as people read them.

const UNITS = {
  time: [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]],
  bytes: [["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
  rate: [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
};

// The unit in which `value` is at least 1.
function unitOf(quantity, value) {
  // A moment has the unit that fits the time that the figures span.
  if (quantity === "moment") return unitOf("time", data.end_ps - data.begin_ps);
  const units = UNITS[quantity];
  if (!units) return ["", 1];
  return units.find(([, scale]) => Math.abs(value) >= scale) ?? units[units.length - 1];
}

const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 3 });

// As many digits as tell two marks of an axis apart.
const plain = (value) => Number(value.toPrecision(7)).toLocaleString("en-US", { maximumFractionDigits: 6 });

// A value of a table cell or a tooltip. Ratios come in millionths.
function format(quantity, value) {
  if (value === null || value === undefined) return "\u2013";
  if (quantity === "text") return String(value);
  if (quantity === "ratio") return (value / 1e6).toFixed(3);
  if (quantity === "percent") return `${plain(value)} %`;
  if (quantity === "count") return grouped(value);
  if (quantity === "moment") {
    const [unit, scale] = unitOf("moment");
    return `${(value / scale).toFixed(3)} ${unit}`;
  }
  if (value === 0) return `0 ${unitOf(quantity, 0)[0]}`;
  const [unit, scale] = unitOf(quantity, value);
  const digits = scale === 1 ? 0 : 2;
  return `${(value / scale).toFixed(digits)} ${unit}`;
}

// Round places between `low` and `high` for the marks of an axis.
function linearTicks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) {
    ticks.push(index * step);
  }
  return ticks;
}

function logTicks(low, high) {
  const from = Math.floor(Math.log10(low) + 1e-9);
  const to = Math.ceil(Math.log10(high) - 1e-9);
  const factors = to - from <= 3 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = from; power <= to; power++) {
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

// What stands at the marks, and the unit, which is the same for all of a linear axis.
function tickTexts(quantity, ticks, log) {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  if (quantity === "ratio") return ticks.map((tick) => plain(tick / 1e6));
  if (log) {
    return ticks.map((tick) => {
      const [unit, scale] = unitOf(quantity, tick);
      return `${plain(tick / scale)} ${unit}`.trim();
    });
  }
  const scale = unitOf(quantity, largest)[1];
  return ticks.map((tick) => plain(tick / scale));
}

const axisTitle = (title, quantity, largest, log) => {
  const unit = quantity === "percent" ? "%" : unitOf(quantity, largest)[0];
  return unit && !log ? `${title} (${unit})` : title;
};

