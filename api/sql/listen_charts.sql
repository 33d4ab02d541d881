-- Whoever has counted a day notifies, without saying which, when its transaction commits.
LISTEN topk_charts
