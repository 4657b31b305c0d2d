// The parts of Apache ECharts that the lab's report draws with. README.md says how the bundle is made of it.
import * as core from "echarts/core";
import { CustomChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

core.use([CustomChart, LineChart, GridComponent, LegendComponent, TooltipComponent, SVGRenderer]);

export const init = core.init;
